-- session
SELECT current_schema(), session_user

-- server
SELECT version() LIKE 'PostgreSQL 15%' AS is_15, current_database(), current_user

-- settings
SELECT name, setting FROM pg_catalog.pg_settings WHERE name IN ('standard_conforming_strings', 'server_version_num', 'search_path')

-- all settings
SELECT * FROM pg_catalog.pg_settings

-- databases
SELECT db.oid, db.* FROM pg_catalog.pg_database db WHERE datallowconn AND NOT datistemplate AND db.datname = 'antumbra' ORDER BY db.datname

-- probe of enumerations
SELECT * FROM pg_catalog.pg_enum WHERE 1<>1 LIMIT 1

-- probe of row types
SELECT reltype FROM pg_catalog.pg_class WHERE 1<>1 LIMIT 1

-- schemas
SELECT n.oid, n.*, d.description FROM pg_catalog.pg_namespace n
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass
WHERE n.nspname <> 'pg_toast' ORDER BY nspname

-- types
SELECT t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name, d.description
FROM pg_catalog.pg_type t LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = t.typelem
LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid
WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C')
  AND t.typname IN ('int4', '_int4', 'text', 'numeric', 'timestamptz', 'varchar', 'bool', 'jsonb', 'yes_or_no')

-- roles
SELECT a.oid, a.*, pd.description FROM pg_catalog.pg_roles a LEFT JOIN pg_catalog.pg_shdescription pd ON a.oid = pd.objoid
WHERE a.rolname IN ('antumbra', 'reader', 'writers') ORDER BY a.rolname

-- members
SELECT am.*, r.rolname FROM pg_catalog.pg_auth_members am JOIN pg_catalog.pg_roles r ON r.oid = am.member
WHERE am.roleid > 16383

-- relations
SELECT c.oid, c.*, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr,
  pg_catalog.pg_get_partkeydef(c.oid) AS partition_key
FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind NOT IN ('i', 'I', 'c')

-- columns
SELECT c.relname, a.*, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value, dsc.description, dep.objid
FROM pg_catalog.pg_attribute a INNER JOIN pg_catalog.pg_class c ON (a.attrelid = c.oid)
LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid = ad.adrelid AND a.attnum = ad.adnum)
LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
LEFT OUTER JOIN pg_catalog.pg_depend dep
  ON dep.refobjid = a.attrelid AND dep.deptype = 'i' AND dep.refobjsubid = a.attnum AND dep.classid = dep.refclassid
WHERE NOT a.attisdropped AND a.attnum > 0 AND c.relkind NOT IN ('i', 'I', 'c') AND c.oid IN (<city>, <line>, <seen>, <visit>, <trips>, <fares>)
ORDER BY c.relname, a.attnum

-- constraints
SELECT c.oid, c.*, t.relname AS tabrelname, rt.relnamespace AS refnamespace, d.description,
  CASE WHEN c.contype = 'c' THEN "substring"(pg_get_constraintdef(c.oid), 7) ELSE NULL END consrc_copy
FROM pg_catalog.pg_constraint c INNER JOIN pg_catalog.pg_class t ON t.oid = c.conrelid
LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid = c.confrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_constraint'::regclass
WHERE c.conrelid IN (<city>, <line>, <seen>, <visit>)

-- indexes
SELECT i.*, i.indkey AS keys, c.relname, c.relnamespace, c.relam, c.reltablespace, tc.relname AS tabrelname, dsc.description,
  pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS pred_expr, pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) AS expr,
  pg_catalog.pg_stat_get_numscans(i.indexrelid) >= 0 AS index_num_scans
FROM pg_catalog.pg_index i INNER JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
INNER JOIN pg_catalog.pg_class tc ON tc.oid = i.indrelid
LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid = dsc.objoid
WHERE i.indrelid IN (<city>, <line>, <seen>, <visit>) ORDER BY tabrelname, c.relname

-- sizes of indexes
SELECT i.indexrelid, pg_catalog.pg_relation_size(i.indexrelid) >= 0 AS counted FROM pg_catalog.pg_index i WHERE i.indrelid = <visit>

-- inheritance
SELECT i.*, c.relnamespace FROM pg_catalog.pg_inherits i, pg_catalog.pg_class c WHERE i.inhrelid = <city> AND c.oid = i.inhparent ORDER BY i.inhseqno

-- partitions
SELECT c.*, i.inhparent, pg_get_expr(c.relpartbound, c.oid) AS partition_expr FROM pg_catalog.pg_inherits i, pg_catalog.pg_class c
WHERE i.inhparent = <city> AND c.oid = i.inhrelid

-- triggers
SELECT x.oid, x.*, p.pronamespace AS func_schema_id, d.description, pg_catalog.pg_get_triggerdef(x.oid) AS definition
FROM pg_catalog.pg_trigger x LEFT OUTER JOIN pg_catalog.pg_proc p ON p.oid = x.tgfoid
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = x.oid AND d.objsubid = 0 AND d.classoid = 'pg_trigger'::regclass
WHERE x.tgrelid = <city> AND NOT x.tgisinternal

-- rules
SELECT r.oid, r.rulename, r.ev_type, r.is_instead FROM pg_catalog.pg_rewrite r WHERE r.ev_class = <large>

-- policies
SELECT * FROM pg_catalog.pg_policies WHERE schemaname = 'public' AND tablename = 'city'

-- definition of a view
SELECT pg_catalog.pg_get_viewdef(<large>, true) AS definition

-- definitions of rules
SELECT pg_catalog.pg_get_ruledef(r.oid, true) FROM pg_catalog.pg_rewrite r WHERE r.ev_class = <city>

-- sequences
SELECT last_value, min_value, max_value, increment_by, cycle FROM pg_catalog.pg_sequences WHERE schemaname = 'public' AND sequencename = 'ticket'

-- sizes of relations
SELECT c.oid, pg_catalog.pg_total_relation_size(c.oid) >= 0 AS total_rel_size, pg_catalog.pg_relation_size(c.oid) >= 0 AS rel_size
FROM pg_catalog.pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'f')

-- size of the database
SELECT pg_catalog.pg_database_size(db.oid) > 0 AS counted FROM pg_catalog.pg_database db WHERE db.datname = current_database()

-- privileges
SELECT * FROM information_schema.table_privileges WHERE table_schema = 'public' AND table_name = 'city' ORDER BY grantee, privilege_type

-- privileges of a role
SELECT * FROM information_schema.table_privileges WHERE grantee = 'reader' ORDER BY table_name, privilege_type

-- privileges of columns
SELECT grantee, column_name, privilege_type, is_grantable FROM information_schema.column_privileges
WHERE table_schema = 'public' AND table_name = 'visit' ORDER BY 1, 2, 3

-- owners and lists
SELECT relname, relkind, pg_get_userbyid(relowner), relacl FROM pg_catalog.pg_class WHERE relnamespace = 'public'::regnamespace AND relacl IS NOT NULL

-- what needs a table
SELECT DISTINCT dep.deptype, dep.classid::regclass, cl.relkind, attr.attname, pg_get_expr(ad.adbin, ad.adrelid) adefval,
  CASE WHEN cl.relkind IS NOT NULL THEN cl.relkind::text || COALESCE(dep.objsubid::text, '') WHEN co.oid IS NOT NULL THEN 'C'::text || co.contype::text
    WHEN ad.oid IS NOT NULL THEN 'A'::text ELSE '' END AS type,
  COALESCE(coc.relname, clrw.relname) AS ownertable, COALESCE(cl.relname, co.conname, rw.rulename) AS refname
FROM pg_depend dep LEFT JOIN pg_class cl ON dep.objid = cl.oid LEFT JOIN pg_attribute attr ON dep.objid = attr.attrelid AND dep.objsubid = attr.attnum
LEFT JOIN pg_constraint co ON dep.objid = co.oid LEFT JOIN pg_class coc ON co.conrelid = coc.oid
LEFT JOIN pg_rewrite rw ON dep.objid = rw.oid LEFT JOIN pg_class clrw ON clrw.oid = rw.ev_class
LEFT JOIN pg_attrdef ad ON ad.oid = dep.objid
WHERE dep.refobjid = <visit> AND dep.classid IN (SELECT oid FROM pg_class WHERE relname IN ('pg_class', 'pg_constraint', 'pg_rewrite', 'pg_attrdef'))
ORDER BY classid, cl.relkind, refname

-- foreign servers
SELECT l.oid, l.*, p.fdwname FROM pg_catalog.pg_foreign_server l LEFT OUTER JOIN pg_catalog.pg_foreign_data_wrapper p ON p.oid = l.srvfdw

-- foreign tables
SELECT ft.ftrelid::regclass, ft.ftoptions, fs.srvname FROM pg_catalog.pg_foreign_table ft JOIN pg_catalog.pg_foreign_server fs ON fs.oid = ft.ftserver

-- languages
SELECT l.oid, l.* FROM pg_catalog.pg_language l WHERE l.lanname = 'sql'

-- extensions
SELECT e.oid, e.extname, n.nspname AS schema_name, e.extversion FROM pg_catalog.pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
WHERE e.extname <> 'plpgsql'

-- event triggers
SELECT * FROM pg_catalog.pg_event_trigger

-- collations
SELECT c.oid, c.* FROM pg_catalog.pg_collation c WHERE collname IN ('C', 'POSIX') ORDER BY c.oid

-- tablespaces
SELECT t.oid, t.*, pg_tablespace_location(t.oid) loc FROM pg_catalog.pg_tablespace t ORDER BY t.oid

-- functions
SELECT p.oid, p.proname, p.prokind, p.pronargs, pg_catalog.pg_get_expr(p.proargdefaults, 0) AS arg_defaults, d.description
FROM pg_catalog.pg_proc p LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = p.oid AND d.objsubid = 0
WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname IN ('lower', 'btrim', 'date_trunc') AND p.prorettype <> 3831 AND p.oid < 3840 ORDER BY p.proname, p.oid

-- search
SELECT x.oid, x.relname, x.relnamespace, x.relkind FROM pg_catalog.pg_class x
WHERE x.relkind IN ('r', 'v', 'f') AND x.relname ILIKE '%it%' AND x.relnamespace IN ('public'::regnamespace) ORDER BY x.relname LIMIT 100

-- search of columns
SELECT x.attname, x.attnum, x.atttypid, c.relname FROM pg_catalog.pg_attribute x, pg_catalog.pg_class c
WHERE c.oid = x.attrelid AND x.attname ILIKE '%city%' AND c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'f', 'v') ORDER BY 4, 1

-- sessions
SELECT sa.* FROM pg_catalog.pg_stat_activity sa

-- locks
WITH locks AS (
  SELECT bl.pid AS blocked_pid, ka.pid AS blocking_pid, bl.relation::regclass AS locked_item
  FROM pg_catalog.pg_locks bl JOIN pg_catalog.pg_stat_activity a ON bl.pid = a.pid
  JOIN pg_catalog.pg_locks kl ON bl.locktype = kl.locktype AND bl.relation IS NOT DISTINCT FROM kl.relation AND bl.pid <> kl.pid
  JOIN pg_catalog.pg_stat_activity ka ON kl.pid = ka.pid
  WHERE kl.granted AND NOT bl.granted)
SELECT * FROM locks
