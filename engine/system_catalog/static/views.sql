-- The views of pg_catalog and information_schema that have rows here, each behind its name, with PostgreSQL's columns in their order.
-- Every other view is empty.

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
    s.seqcache, pg_sequence_last_value(c.oid)
FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid LEFT JOIN pg_namespace n ON n.oid = c.relnamespace

-- pg_catalog.pg_stat_all_tables
SELECT c.oid, n.nspname, c.relname, 0::int8, 0::int8, 0::int8, 0::int8, 0::int8, 0::int8, 0::int8, 0::int8, 0::int8, 0::int8, 0::int8,
    0::int8, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, 0::int8, 0::int8, 0::int8, 0::int8
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 't', 'm', 'p')

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
FROM pg_namespace

-- information_schema.tables
SELECT current_database(), n.nspname, c.relname,
    CASE c.relkind WHEN 'r' THEN 'BASE TABLE' WHEN 'p' THEN 'BASE TABLE' WHEN 'v' THEN 'VIEW' WHEN 'f' THEN 'FOREIGN' END,
    NULL::text, NULL::text, NULL::text, NULL::text, NULL::text,
    CASE WHEN c.relkind = 'r' OR c.relkind = 'f' THEN 'YES' ELSE 'NO' END, 'NO', NULL::text
FROM pg_namespace n JOIN pg_class c ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v', 'f', 'p')

-- information_schema.views
SELECT current_database(), n.nspname, c.relname, pg_get_viewdef(c.oid), 'NONE', 'NO', 'NO', 'NO', 'NO', 'NO'
FROM pg_namespace n JOIN pg_class c ON n.oid = c.relnamespace WHERE c.relkind = 'v'

-- information_schema.columns
SELECT current_database(), n.nspname, c.relname, a.attname, a.attnum::int4,
    CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END,
    CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END,
    CASE WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'ARRAY' WHEN t.typnamespace = 11 THEN format_type(a.atttypid, NULL)
        ELSE 'USER-DEFINED' END,
    CASE WHEN a.atttypid IN (1042, 1043) AND a.atttypmod <> -1 THEN a.atttypmod - 4 END,
    CASE WHEN a.atttypid IN (25, 1042, 1043) THEN CASE WHEN a.atttypmod = -1 OR a.atttypid = 25 THEN 1073741824
        ELSE least((a.atttypmod - 4) * 4, 1073741824) END END,
    CASE a.atttypid WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 700 THEN 24 WHEN 701 THEN 53
        WHEN 1700 THEN CASE WHEN a.atttypmod <> -1 THEN ((a.atttypmod - 4) >> 16) & 65535 END END,
    CASE WHEN a.atttypid IN (21, 23, 20, 700, 701) THEN 2 WHEN a.atttypid = 1700 THEN 10 END,
    CASE WHEN a.atttypid IN (21, 23, 20) THEN 0 WHEN a.atttypid = 1700 AND a.atttypmod <> -1 THEN (a.atttypmod - 4) & 65535 END,
    CASE WHEN a.atttypid = 1082 THEN 0 WHEN a.atttypid IN (1083, 1114, 1184, 1266, 1186) THEN
        CASE WHEN a.atttypmod < 0 OR a.atttypid = 1186 THEN 6 ELSE a.atttypmod END END,
    NULL::text, NULL::int4, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text,
    current_database(), CASE WHEN t.typnamespace = 11 THEN 'pg_catalog' ELSE tn.nspname END, t.typname, NULL::text, NULL::text, NULL::text,
    NULL::int4, a.attnum::text, 'NO', CASE WHEN a.attidentity IN ('a', 'd') THEN 'YES' ELSE 'NO' END,
    CASE a.attidentity WHEN 'a' THEN 'ALWAYS' WHEN 'd' THEN 'BY DEFAULT' END, s.seqstart::text, s.seqincrement::text, s.seqmax::text,
    s.seqmin::text, CASE WHEN s.seqcycle THEN 'YES' ELSE 'NO' END, 'NEVER', NULL::text,
    CASE WHEN c.relkind IN ('r', 'f') THEN 'YES' ELSE 'NO' END
FROM pg_attribute a LEFT JOIN pg_attrdef d ON a.attrelid = d.adrelid AND a.attnum = d.adnum
    JOIN pg_class c ON a.attrelid = c.oid JOIN pg_namespace n ON c.relnamespace = n.oid
    JOIN pg_type t ON a.atttypid = t.oid JOIN pg_namespace tn ON t.typnamespace = tn.oid
    LEFT JOIN (pg_depend dep JOIN pg_sequence s ON dep.classid = 1259 AND dep.objid = s.seqrelid AND dep.deptype = 'i')
        ON dep.refclassid = 1259 AND dep.refobjid = c.oid AND dep.refobjsubid = a.attnum
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'f', 'p')

-- information_schema.table_constraints
SELECT current_database(), n.nspname, o.conname, current_database(), n.nspname, c.relname,
    CASE o.contype WHEN 'c' THEN 'CHECK' WHEN 'f' THEN 'FOREIGN KEY' WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' END,
    'NO', 'NO', 'YES', CASE WHEN o.contype = 'u' THEN 'YES' END
FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE o.contype IN ('c', 'f', 'p', 'u') AND c.relkind IN ('r', 'p')
UNION ALL
SELECT current_database(), n.nspname, n.oid::text || '_' || c.oid::text || '_' || a.attnum::text || '_not_null', current_database(),
    n.nspname, c.relname, 'CHECK', 'NO', 'NO', 'YES', NULL::text
FROM pg_namespace n JOIN pg_class c ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
WHERE a.attnotnull AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p')

-- information_schema.check_constraints
SELECT current_database(), n.nspname, o.conname, pg_get_expr(o.conbin, o.conrelid)
FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE o.contype = 'c'
UNION ALL
SELECT current_database(), n.nspname, n.oid::text || '_' || c.oid::text || '_' || a.attnum::text || '_not_null', a.attname || ' IS NOT NULL'
FROM pg_namespace n JOIN pg_class c ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
WHERE a.attnotnull AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p')

-- information_schema.key_column_usage
SELECT current_database(), n.nspname, o.conname, current_database(), n.nspname, c.relname, a.attname, k.place::int4, NULL::int4
FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL unnest(o.conkey) WITH ORDINALITY AS k (number, place)
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
WHERE o.contype IN ('p', 'u', 'f')

-- information_schema.constraint_column_usage
SELECT current_database(), n.nspname, c.relname, a.attname, current_database(), n.nspname, o.conname
FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL unnest(o.conkey) AS k (number) JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
WHERE o.contype IN ('c', 'p', 'u')

-- information_schema.constraint_table_usage
SELECT current_database(), n.nspname, c.relname, current_database(), n.nspname, o.conname
FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE o.contype IN ('p', 'u')

-- information_schema.sequences
SELECT current_database(), n.nspname, c.relname, format_type(s.seqtypid, NULL),
    CASE s.seqtypid WHEN 21 THEN 16 WHEN 23 THEN 32 ELSE 64 END, 2, 0, s.seqstart::text, s.seqmin::text, s.seqmax::text,
    s.seqincrement::text, CASE WHEN s.seqcycle THEN 'YES' ELSE 'NO' END
FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 1259 AND d.objid = c.oid AND d.deptype = 'i')

-- information_schema.foreign_data_wrappers
SELECT current_database(), fdwname, pg_get_userbyid(fdwowner), NULL::text, 'c' FROM pg_foreign_data_wrapper

-- information_schema.foreign_servers
SELECT current_database(), s.srvname, current_database(), w.fdwname, s.srvtype, s.srvversion, pg_get_userbyid(s.srvowner)
FROM pg_foreign_server s JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw

-- information_schema.foreign_tables
SELECT current_database(), n.nspname, c.relname, current_database(), s.srvname
FROM pg_foreign_table f JOIN pg_foreign_server s ON s.oid = f.ftserver JOIN pg_class c ON c.oid = f.ftrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace

-- information_schema.foreign_table_options
SELECT current_database(), n.nspname, c.relname, o.option_name, o.option_value
FROM pg_foreign_table f JOIN pg_class c ON c.oid = f.ftrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL pg_options_to_table(f.ftoptions) AS o

-- information_schema.enabled_roles
SELECT rolname FROM pg_authid

-- information_schema.applicable_roles
SELECT NULL::text, NULL::text, NULL::text WHERE false
