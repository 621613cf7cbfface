-- The views of pg_catalog and information_schema that have rows here, each behind its name, with PostgreSQL's columns in their order.
-- Every other view is empty. relations_seen and the like are the rows of pg_class that the role may know of, see `view_queries`.

-- pg_catalog.pg_roles
SELECT rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolconnlimit,
    '********'::text, rolvaliduntil, rolbypassrls, NULL::text[], oid
FROM pg_authid

-- pg_catalog.pg_shadow
SELECT rolname, oid, rolcreatedb, rolsuper, rolreplication, rolbypassrls, rolpassword, rolvaliduntil, NULL::text[]
FROM pg_authid WHERE rolcanlogin

-- pg_catalog.pg_user
SELECT rolname, oid, rolcreatedb, rolsuper, rolreplication, rolbypassrls, '********'::text, rolvaliduntil, NULL::text[]
FROM pg_authid WHERE rolcanlogin

-- pg_catalog.pg_group
SELECT rolname, oid, ARRAY(SELECT member FROM pg_auth_members WHERE roleid = pg_authid.oid) FROM pg_authid WHERE NOT rolcanlogin

-- pg_catalog.pg_tables
SELECT n.nspname, c.relname, pg_get_userbyid(c.relowner), t.spcname, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
WHERE c.relkind IN ('r', 'p')

-- pg_catalog.pg_views
SELECT n.nspname, c.relname, pg_get_userbyid(c.relowner), pg_get_viewdef(c.oid)
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v'

-- pg_catalog.pg_indexes
SELECT n.nspname, c.relname, i.relname, t.spcname, pg_get_indexdef(i.oid)
FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
    LEFT JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_tablespace t ON t.oid = i.reltablespace
WHERE c.relkind IN ('r', 'm', 'p') AND i.relkind IN ('i', 'I')

-- pg_catalog.pg_rules
SELECT n.nspname, c.relname, r.rulename, 'CREATE RULE "_RETURN" AS ON SELECT TO ' || c.relname || ' DO INSTEAD ' || pg_get_viewdef(c.oid)
FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE r.rulename <> '_RETURN'

-- pg_catalog.pg_sequences
SELECT n.nspname, c.relname, pg_get_userbyid(c.relowner), s.seqtypid, s.seqstart, s.seqmin, s.seqmax, s.seqincrement, s.seqcycle,
    s.seqcache, CASE WHEN has_sequence_privilege(c.oid, 'SELECT,USAGE') THEN pg_sequence_last_value(c.oid) END
FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid LEFT JOIN pg_namespace n ON n.oid = c.relnamespace

-- pg_catalog.pg_stat_user_tables
SELECT * FROM pg_stat_all_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast'

-- pg_catalog.pg_stat_sys_tables
SELECT * FROM pg_stat_all_tables WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast'

-- pg_catalog.pg_stat_all_indexes
SELECT c.oid, i.oid, n.nspname, c.relname, i.relname, 0::int8, 0::int8, 0::int8
FROM pg_class c JOIN pg_index x ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
    LEFT JOIN pg_namespace n ON n.oid = c.relnamespace

-- pg_catalog.pg_stat_user_indexes
SELECT * FROM pg_stat_all_indexes WHERE schemaname NOT IN ('pg_catalog', 'information_schema')

-- information_schema.information_schema_catalog_name
SELECT current_database()

-- information_schema.schemata
SELECT current_database(), nspname, pg_get_userbyid(nspowner), NULL::text, NULL::text, NULL::text, NULL::text
FROM pg_namespace WHERE pg_has_role(nspowner, 'USAGE') OR has_schema_privilege(oid, 'CREATE, USAGE')

-- information_schema.tables
SELECT current_database(), n.nspname, c.relname,
    CASE WHEN n.oid = pg_my_temp_schema() THEN 'LOCAL TEMPORARY' WHEN c.relkind = 'r' THEN 'BASE TABLE' WHEN c.relkind = 'p' THEN 'BASE TABLE'
        WHEN c.relkind = 'v' THEN 'VIEW' WHEN c.relkind = 'f' THEN 'FOREIGN' END,
    NULL::text, NULL::text, NULL::text, NULL::text, NULL::text,
    CASE WHEN c.relkind = 'r' OR c.relkind = 'f' THEN 'YES' ELSE 'NO' END, 'NO', NULL::text
FROM pg_namespace n JOIN relations_seen c ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v', 'f', 'p') AND NOT pg_is_other_temp_schema(n.oid)

-- information_schema.views
SELECT current_database(), n.nspname, c.relname, CASE WHEN pg_has_role(c.relowner, 'USAGE') THEN pg_get_viewdef(c.oid) END,
    'NONE', 'NO', 'NO', 'NO', 'NO', 'NO'
FROM pg_namespace n JOIN relations_seen c ON n.oid = c.relnamespace WHERE c.relkind = 'v'

-- information_schema.columns
SELECT current_database(), n.nspname, c.relname, a.attname, a.attnum::int4,
    CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END,
    CASE WHEN a.attnotnull OR t.typtype = 'd' AND t.typnotnull THEN 'NO' ELSE 'YES' END,
    CASE WHEN b.typelem <> 0 AND b.typlen = -1 THEN 'ARRAY' WHEN b.typnamespace = 11 THEN format_type(b.oid, NULL) ELSE 'USER-DEFINED' END,
    CASE WHEN b.oid IN (1042, 1043) AND a.modifier <> -1 THEN a.modifier - 4 END,
    CASE WHEN b.oid IN (25, 1042, 1043) THEN CASE WHEN a.modifier = -1 OR b.oid = 25 THEN 1073741824
        ELSE least((a.modifier - 4) * 4, 1073741824) END END,
    CASE b.oid WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 700 THEN 24 WHEN 701 THEN 53
        WHEN 1700 THEN CASE WHEN a.modifier <> -1 THEN ((a.modifier - 4) >> 16) & 65535 END END,
    CASE WHEN b.oid IN (21, 23, 20, 700, 701) THEN 2 WHEN b.oid = 1700 THEN 10 END,
    CASE WHEN b.oid IN (21, 23, 20) THEN 0 WHEN b.oid = 1700 AND a.modifier <> -1 THEN (a.modifier - 4) & 65535 END,
    CASE WHEN b.oid = 1082 THEN 0 WHEN b.oid IN (1083, 1114, 1184, 1266, 1186) THEN
        CASE WHEN a.modifier < 0 OR b.oid = 1186 THEN 6 ELSE a.modifier END END,
    NULL::text, NULL::int4, NULL::text, NULL::text, NULL::text,
    CASE WHEN o.collname <> 'default' THEN current_database() END, CASE WHEN o.collname <> 'default' THEN 'pg_catalog' END,
    CASE WHEN o.collname <> 'default' THEN o.collname END,
    CASE WHEN t.typtype = 'd' THEN current_database() END, CASE WHEN t.typtype = 'd' THEN tn.nspname END,
    CASE WHEN t.typtype = 'd' THEN t.typname END,
    current_database(), bn.nspname, b.typname, NULL::text, NULL::text, NULL::text,
    NULL::int4, a.attnum::text, 'NO', CASE WHEN a.attidentity IN ('a', 'd') THEN 'YES' ELSE 'NO' END,
    CASE a.attidentity WHEN 'a' THEN 'ALWAYS' WHEN 'd' THEN 'BY DEFAULT' END, s.seqstart::text, s.seqincrement::text, s.seqmax::text,
    s.seqmin::text, CASE WHEN s.seqcycle THEN 'YES' ELSE 'NO' END, 'NEVER', NULL::text,
    CASE WHEN c.relkind IN ('r', 'f') THEN 'YES' ELSE 'NO' END
FROM (SELECT g.*, CASE WHEN k.typtype = 'd' THEN k.typtypmod ELSE g.atttypmod END AS modifier
        FROM pg_attribute g JOIN pg_type k ON k.oid = g.atttypid) a
    LEFT JOIN pg_attrdef d ON a.attrelid = d.adrelid AND a.attnum = d.adnum
    JOIN relations_with_columns c ON a.attrelid = c.oid JOIN pg_namespace n ON c.relnamespace = n.oid
    JOIN pg_type t ON a.atttypid = t.oid JOIN pg_namespace tn ON t.typnamespace = tn.oid
    JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END JOIN pg_namespace bn ON b.typnamespace = bn.oid
    LEFT JOIN pg_collation o ON o.oid = a.attcollation
    LEFT JOIN (pg_depend dep JOIN pg_sequence s ON dep.classid = 1259 AND dep.objid = s.seqrelid AND dep.deptype = 'i')
        ON dep.refclassid = 1259 AND dep.refobjid = c.oid AND dep.refobjsubid = a.attnum
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'f', 'p')

-- information_schema.table_constraints
SELECT current_database(), n.nspname, o.conname, current_database(), n.nspname, c.relname,
    CASE o.contype WHEN 'c' THEN 'CHECK' WHEN 'f' THEN 'FOREIGN KEY' WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' END,
    CASE WHEN o.condeferrable THEN 'YES' ELSE 'NO' END, CASE WHEN o.condeferred THEN 'YES' ELSE 'NO' END, 'YES',
    CASE WHEN o.contype = 'u' THEN 'YES' END
FROM pg_constraint o JOIN relations_written c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE o.contype IN ('c', 'f', 'p', 'u') AND c.relkind IN ('r', 'p')
UNION ALL
SELECT current_database(), n.nspname, n.oid::text || '_' || c.oid::text || '_' || a.attnum::text || '_not_null', current_database(),
    n.nspname, c.relname, 'CHECK', 'NO', 'NO', 'YES', NULL::text
FROM pg_namespace n JOIN relations_written c ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
WHERE a.attnotnull AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p')

-- information_schema.check_constraints
SELECT current_database(), n.nspname, o.conname, substring(pg_get_constraintdef(o.oid), 7)
FROM pg_constraint o JOIN relations_owned c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE o.contype = 'c'
UNION ALL
SELECT current_database(), n.nspname, n.oid::text || '_' || c.oid::text || '_' || a.attnum::text || '_not_null', a.attname || ' IS NOT NULL'
FROM pg_namespace n JOIN relations_owned c ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
WHERE a.attnotnull AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p')

-- information_schema.sequences
SELECT current_database(), n.nspname, c.relname, format_type(s.seqtypid, NULL),
    CASE s.seqtypid WHEN 21 THEN 16 WHEN 23 THEN 32 ELSE 64 END, 2, 0, s.seqstart::text, s.seqmin::text, s.seqmax::text,
    s.seqincrement::text, CASE WHEN s.seqcycle THEN 'YES' ELSE 'NO' END
FROM pg_sequence s JOIN sequences_seen c ON c.oid = s.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 1259 AND d.objid = c.oid AND d.deptype = 'i')

-- information_schema.foreign_data_wrappers
SELECT current_database(), fdwname, pg_get_userbyid(fdwowner), NULL::text, 'c' FROM pg_foreign_data_wrapper

-- information_schema.foreign_servers
SELECT current_database(), s.srvname, current_database(), w.fdwname, s.srvtype, s.srvversion, pg_get_userbyid(s.srvowner)
FROM pg_foreign_server s JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw

-- information_schema.foreign_tables
SELECT current_database(), n.nspname, c.relname, current_database(), s.srvname
FROM pg_foreign_table f JOIN pg_foreign_server s ON s.oid = f.ftserver JOIN relations_seen c ON c.oid = f.ftrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace

-- information_schema.foreign_table_options
SELECT current_database(), n.nspname, c.relname, o.option_name, o.option_value
FROM pg_foreign_table f JOIN relations_seen c ON c.oid = f.ftrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL pg_options_to_table(f.ftoptions) AS o

-- pg_catalog.pg_stat_all_tables
SELECT c.oid, n.nspname, c.relname, 0::int8, 0::int8, 0::int8, 0::int8, coalesce(s.tuples, 0), 0::int8, 0::int8, 0::int8,
    coalesce(s.newest_tid - s.oldest_tid + 1, 0), 0::int8, 0::int8,
    0::int8, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, 0::int8, 0::int8, 0::int8, 0::int8
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_streams s ON c.relkind = 'f' AND s.relname = c.relname
WHERE c.relkind IN ('r', 't', 'm', 'p', 'f')

-- pg_catalog.pg_statio_all_tables
SELECT c.oid, n.nspname, c.relname, 0::int8, 0::int8, CASE WHEN c.relhasindex THEN 0::int8 END, CASE WHEN c.relhasindex THEN 0::int8 END,
    NULL::int8, NULL::int8, NULL::int8, NULL::int8
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 't', 'm')

-- pg_catalog.pg_statio_user_tables
SELECT * FROM pg_statio_all_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast'

-- pg_catalog.pg_statio_sys_tables
SELECT * FROM pg_statio_all_tables WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast'

-- pg_catalog.pg_statio_all_indexes
SELECT relid, indexrelid, schemaname, relname, indexrelname, 0::int8, 0::int8 FROM pg_stat_all_indexes

-- pg_catalog.pg_statio_user_indexes
SELECT * FROM pg_statio_all_indexes WHERE schemaname NOT IN ('pg_catalog', 'information_schema')

-- pg_catalog.pg_statio_all_sequences
SELECT c.oid, n.nspname, c.relname, 0::int8, 0::int8
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'S'

-- pg_catalog.pg_statio_user_sequences
SELECT * FROM pg_statio_all_sequences WHERE schemaname NOT IN ('pg_catalog', 'information_schema')

-- pg_catalog.pg_stat_database
SELECT d.oid, d.datname, (SELECT count(*)::int4 FROM pg_stat_activity a WHERE a.datid = d.oid), NULL::int8, NULL::int8, NULL::int8, NULL::int8,
    NULL::int8, NULL::int8, (SELECT sum(tuples)::int8 FROM pg_stat_streams), NULL::int8, NULL::int8, 0::int8, NULL::int8, NULL::int8, 0::int8,
    NULL::int8, NULL::timestamptz, 0::float8, 0::float8, NULL::float8, NULL::float8, NULL::float8, NULL::int8, NULL::int8, NULL::int8,
    NULL::int8, NULL::timestamptz
FROM pg_database d

-- pg_catalog.pg_stat_database_conflicts
SELECT oid, datname, 0::int8, 0::int8, 0::int8, 0::int8, 0::int8 FROM pg_database

-- pg_catalog.pg_stat_gssapi
SELECT pid, false, NULL::text, false FROM pg_stat_activity

-- pg_catalog.pg_timezone_names
SELECT name, abbrev, utc_offset, is_dst FROM pg_timezone_names()

-- pg_catalog.pg_timezone_abbrevs
SELECT abbrev, utc_offset, is_dst FROM pg_timezone_abbrevs()

-- information_schema.key_column_usage
SELECT current_database(), n.nspname, o.conname, current_database(), n.nspname, c.relname, a.attname, k.place::int4,
    CASE WHEN o.contype = 'f' THEN (array_position(x.indkey, o.confkey[k.place]) + 1)::int4 END
FROM pg_constraint o JOIN relations_with_columns c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL unnest(o.conkey) WITH ORDINALITY AS k (number, place)
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number LEFT JOIN pg_index x ON x.indexrelid = o.conindid
WHERE o.contype IN ('p', 'u', 'f')

-- information_schema.constraint_column_usage
SELECT current_database(), n.nspname, c.relname, a.attname, current_database(), n.nspname, o.conname
FROM (SELECT oid, conname, contype, CASE contype WHEN 'f' THEN confrelid ELSE conrelid END AS relation,
        CASE contype WHEN 'f' THEN confkey ELSE conkey END AS columns FROM pg_constraint) o
    JOIN relations_owned c ON c.oid = o.relation JOIN pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL unnest(o.columns) AS k (number) JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
WHERE o.contype IN ('c', 'p', 'u', 'f')

-- information_schema.constraint_table_usage
SELECT current_database(), n.nspname, c.relname, current_database(), n.nspname, o.conname
FROM (SELECT conname, contype, CASE contype WHEN 'f' THEN confrelid ELSE conrelid END AS relation FROM pg_constraint) o
    JOIN relations_owned c ON c.oid = o.relation JOIN pg_namespace n ON n.oid = c.relnamespace WHERE o.contype IN ('p', 'u', 'f')

-- information_schema.referential_constraints
SELECT current_database(), n.nspname, o.conname, current_database(), pn.nspname, p.conname,
    CASE o.confmatchtype WHEN 'f' THEN 'FULL' WHEN 'p' THEN 'PARTIAL' WHEN 's' THEN 'NONE' END,
    CASE o.confupdtype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END,
    CASE o.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END
FROM pg_constraint o JOIN relations_written c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = o.connamespace
    LEFT JOIN pg_constraint p ON p.conindid = o.conindid AND p.conrelid = o.confrelid AND p.contype IN ('p', 'u')
    LEFT JOIN pg_namespace pn ON pn.oid = p.connamespace
WHERE o.contype = 'f'

-- information_schema.enabled_roles
SELECT rolname FROM pg_authid WHERE pg_has_role(oid, 'USAGE')

-- information_schema.applicable_roles
SELECT a.rolname, b.rolname, CASE WHEN m.admin_option THEN 'YES' ELSE 'NO' END
FROM pg_auth_members m JOIN pg_authid a ON m.member = a.oid JOIN pg_authid b ON m.roleid = b.oid WHERE pg_has_role(a.oid, 'USAGE')

-- information_schema.administrable_role_authorizations
SELECT * FROM information_schema.applicable_roles WHERE is_grantable = 'YES'

-- information_schema.table_privileges
SELECT u.rolname, coalesce(g.rolname, 'PUBLIC'), current_database(), n.nspname, c.relname, c.privilege_type,
    CASE WHEN pg_has_role(c.grantee, c.relowner, 'USAGE') OR c.is_grantable THEN 'YES' ELSE 'NO' END,
    CASE WHEN c.privilege_type = 'SELECT' THEN 'YES' ELSE 'NO' END
FROM (SELECT r.relname, r.relnamespace, r.relowner, e.grantor, e.grantee, e.privilege_type, e.is_grantable
        FROM pg_class r CROSS JOIN LATERAL aclexplode(coalesce(r.relacl, acldefault('r', r.relowner))) AS e
        WHERE r.relkind IN ('r', 'v', 'f', 'p')) c
    JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_authid u ON u.oid = c.grantor LEFT JOIN pg_authid g ON g.oid = c.grantee
WHERE c.privilege_type IN ('INSERT', 'SELECT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER')
    AND (pg_has_role(u.oid, 'USAGE') OR c.grantee = 0 OR pg_has_role(g.oid, 'USAGE'))

-- information_schema.role_table_grants
SELECT * FROM information_schema.table_privileges
WHERE grantor IN (SELECT role_name FROM information_schema.enabled_roles) OR grantee IN (SELECT role_name FROM information_schema.enabled_roles)

-- information_schema.column_privileges
SELECT DISTINCT u.rolname, coalesce(g.rolname, 'PUBLIC'), current_database(), n.nspname, c.relname, c.attname, c.privilege_type,
    CASE WHEN pg_has_role(c.grantee, c.relowner, 'USAGE') OR c.is_grantable THEN 'YES' ELSE 'NO' END
FROM (SELECT r.relname, r.relnamespace, r.relowner, a.attname, e.grantor, e.grantee, e.privilege_type, e.is_grantable
        FROM pg_class r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
            CROSS JOIN LATERAL aclexplode(coalesce(r.relacl, acldefault('r', r.relowner))) AS e
        WHERE r.relkind IN ('r', 'v', 'f', 'p')
        UNION ALL
        SELECT r.relname, r.relnamespace, r.relowner, a.attname, e.grantor, e.grantee, e.privilege_type, e.is_grantable
        FROM pg_class r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attacl IS NOT NULL
            CROSS JOIN LATERAL aclexplode(a.attacl) AS e
        WHERE r.relkind IN ('r', 'v', 'f', 'p')) c
    JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_authid u ON u.oid = c.grantor LEFT JOIN pg_authid g ON g.oid = c.grantee
WHERE c.privilege_type IN ('INSERT', 'SELECT', 'UPDATE', 'REFERENCES')
    AND (pg_has_role(u.oid, 'USAGE') OR c.grantee = 0 OR pg_has_role(g.oid, 'USAGE'))

-- information_schema.role_column_grants
SELECT * FROM information_schema.column_privileges
WHERE grantor IN (SELECT role_name FROM information_schema.enabled_roles) OR grantee IN (SELECT role_name FROM information_schema.enabled_roles)

-- information_schema.character_sets
SELECT NULL::text, NULL::text, 'UTF8', 'UCS', 'UTF8', current_database(), 'pg_catalog', 'ucs_basic'

-- information_schema.collations
SELECT current_database(), n.nspname, c.collname, 'NO PAD' FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace

-- information_schema.column_udt_usage
SELECT current_database(), tn.nspname, t.typname, current_database(), n.nspname, c.relname, a.attname
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace tn ON tn.oid = t.typnamespace
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'f', 'p') AND pg_has_role(t.typowner, 'USAGE')

-- information_schema.view_table_usage
SELECT DISTINCT current_database(), nv.nspname, v.relname, current_database(), nt.nspname, t.relname
FROM pg_depend d JOIN pg_rewrite r ON d.classid = 2618 AND r.oid = d.objid JOIN pg_class v ON v.oid = r.ev_class
    JOIN pg_namespace nv ON nv.oid = v.relnamespace JOIN relations_owned t ON d.refclassid = 1259 AND t.oid = d.refobjid
    JOIN pg_namespace nt ON nt.oid = t.relnamespace
WHERE v.relkind = 'v' AND d.deptype = 'n' AND t.relkind IN ('r', 'v', 'f', 'p')

-- information_schema.element_types
SELECT current_database(), n.nspname, c.relname, 'TABLE', a.attnum::text,
    CASE WHEN e.typnamespace = 11 THEN format_type(e.oid, NULL) ELSE 'USER-DEFINED' END, NULL::int4, NULL::int4, NULL::text, NULL::text,
    NULL::text, NULL::text, NULL::text, NULL::text, NULL::int4, NULL::int4, NULL::int4, NULL::int4, NULL::text, NULL::int4, NULL::text,
    current_database(), en.nspname, e.typname, NULL::text, NULL::text, NULL::text, NULL::int4, 'a' || a.attnum::text
FROM pg_attribute a JOIN relations_with_columns c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_type t ON t.oid = a.atttypid JOIN pg_type e ON e.oid = t.typelem JOIN pg_namespace en ON en.oid = e.typnamespace
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'f', 'p') AND t.typlen = -1

-- information_schema.domains
SELECT current_database(), n.nspname, t.typname,
    CASE WHEN b.typelem <> 0 AND b.typlen = -1 THEN 'ARRAY' WHEN b.typnamespace = 11 THEN format_type(b.oid, NULL) ELSE 'USER-DEFINED' END,
    CASE WHEN b.oid IN (1042, 1043) AND t.typtypmod <> -1 THEN t.typtypmod - 4 END,
    CASE WHEN b.oid IN (25, 1042, 1043) THEN CASE WHEN t.typtypmod = -1 OR b.oid = 25 THEN 1073741824
        ELSE least((t.typtypmod - 4) * 4, 1073741824) END END,
    NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text,
    CASE b.oid WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 700 THEN 24 WHEN 701 THEN 53
        WHEN 1700 THEN CASE WHEN t.typtypmod <> -1 THEN ((t.typtypmod - 4) >> 16) & 65535 END END,
    CASE WHEN b.oid IN (21, 23, 20, 700, 701) THEN 2 WHEN b.oid = 1700 THEN 10 END,
    CASE WHEN b.oid IN (21, 23, 20) THEN 0 WHEN b.oid = 1700 AND t.typtypmod <> -1 THEN (t.typtypmod - 4) & 65535 END,
    CASE WHEN b.oid = 1082 THEN 0 WHEN b.oid IN (1083, 1114, 1184, 1266, 1186) THEN
        CASE WHEN t.typtypmod < 0 OR b.oid = 1186 THEN 6 ELSE t.typtypmod END END,
    NULL::text, NULL::int4, t.typdefault, current_database(), bn.nspname, b.typname, NULL::text, NULL::text, NULL::text, NULL::int4, '1'
FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace JOIN pg_type b ON b.oid = t.typbasetype
    JOIN pg_namespace bn ON bn.oid = b.typnamespace
WHERE t.typtype = 'd'

-- information_schema.routines
SELECT current_database(), n.nspname, p.proname || '_' || p.oid::text, current_database(), n.nspname, p.proname, 'FUNCTION',
    NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text,
    CASE WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'ARRAY' WHEN t.typnamespace = 11 THEN format_type(t.oid, NULL) ELSE 'USER-DEFINED' END,
    NULL::int4, NULL::int4, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::int4, NULL::int4,
    NULL::int4, NULL::int4, NULL::text, NULL::int4,
    current_database(), nt.nspname, t.typname, NULL::text, NULL::text, NULL::text, NULL::int4, '0',
    CASE WHEN l.lanname = 'sql' THEN 'SQL' ELSE 'EXTERNAL' END, CASE WHEN pg_has_role(p.proowner, 'USAGE') THEN p.prosrc END,
    NULL::text, upper(l.lanname::text), 'GENERAL', CASE WHEN p.provolatile = 'i' THEN 'YES' ELSE 'NO' END, 'MODIFIES',
    CASE WHEN p.proisstrict THEN 'YES' ELSE 'NO' END, NULL::text, 'YES', 0, NULL::text, NULL::text, 'INVOKER',
    NULL::text, NULL::text, NULL::text, 'NO', NULL::timestamptz, NULL::timestamptz, NULL::text, 'NO', NULL::text, NULL::text,
    NULL::int4, NULL::int4, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::int4, NULL::int4,
    NULL::int4, NULL::int4, NULL::text, NULL::int4, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text,
    NULL::int4, NULL::text
FROM pg_namespace n JOIN pg_proc p ON n.oid = p.pronamespace JOIN pg_language l ON p.prolang = l.oid
    JOIN pg_type t ON p.prorettype = t.oid JOIN pg_namespace nt ON t.typnamespace = nt.oid
WHERE p.prokind = 'f' AND (pg_has_role(p.proowner, 'USAGE') OR has_function_privilege(p.oid, 'EXECUTE'))

-- information_schema.parameters
SELECT current_database(), n.nspname, p.proname || '_' || p.oid::text, x.n,
    CASE WHEN p.proargmodes IS NULL THEN 'IN' WHEN p.proargmodes[x.n] IN ('i', 'v') THEN 'IN' WHEN p.proargmodes[x.n] = 'b' THEN 'INOUT'
        ELSE 'OUT' END,
    'NO', 'NO', nullif(p.proargnames[x.n], ''),
    CASE WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'ARRAY' WHEN t.typnamespace = 11 THEN format_type(t.oid, NULL) ELSE 'USER-DEFINED' END,
    NULL::int4, NULL::int4, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::int4, NULL::int4,
    NULL::int4, NULL::int4, NULL::text, NULL::int4,
    current_database(), nt.nspname, t.typname, NULL::text, NULL::text, NULL::text, NULL::int4, x.n::text,
    CASE WHEN pg_has_role(p.proowner, 'USAGE') THEN pg_get_function_arg_default(p.oid, x.n::int4) END
FROM pg_namespace n JOIN pg_proc p ON n.oid = p.pronamespace
    CROSS JOIN LATERAL unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) WITH ORDINALITY AS x(kind, n)
    JOIN pg_type t ON t.oid = x.kind JOIN pg_namespace nt ON t.typnamespace = nt.oid
WHERE pg_has_role(p.proowner, 'USAGE') OR has_function_privilege(p.oid, 'EXECUTE')
