-- connect
SELECT set_config('bytea_output', 'hex', false) FROM pg_show_all_settings() WHERE name = 'bytea_output'

-- database
SELECT db.oid AS did, db.datname, db.datallowconn, pg_catalog.pg_encoding_to_char(db.encoding) AS serverencoding,
  pg_catalog.has_database_privilege(db.oid, 'CREATE') AS cancreate, datistemplate
FROM pg_catalog.pg_database db WHERE db.datname = current_database()

-- user
SELECT roles.rolname AS name, roles.rolsuper AS is_superuser,
  CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreaterole END AS can_create_role,
  CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreatedb END AS can_create_db,
  CASE WHEN 'pg_signal_backend' = ANY(ARRAY(WITH RECURSIVE cte AS (
      SELECT pg_roles.oid, pg_roles.rolname FROM pg_roles WHERE pg_roles.oid = roles.oid
      UNION ALL
      SELECT m.roleid, pgr.rolname FROM cte cte_1 JOIN pg_auth_members m ON m.member = cte_1.oid JOIN pg_roles pgr ON pgr.oid = m.roleid)
    SELECT rolname FROM cte)) THEN true ELSE false END AS can_signal_backend
FROM pg_catalog.pg_roles AS roles WHERE rolname = current_user

-- gssapi
SELECT gss_authenticated, encrypted FROM pg_catalog.pg_stat_gssapi WHERE pid = pg_backend_pid()

-- replication
SELECT CASE WHEN (SELECT count(extname) FROM pg_catalog.pg_extension WHERE extname = 'bdr') > 0 THEN 'pgd'
  WHEN (SELECT COUNT(*) FROM pg_stat_replication) > 0 THEN 'log' ELSE NULL END AS type

-- recovery
SELECT CASE WHEN usesuper THEN pg_catalog.pg_is_in_recovery() ELSE FALSE END AS inrecovery,
  CASE WHEN usesuper AND pg_catalog.pg_is_in_recovery() THEN pg_is_wal_replay_paused() ELSE FALSE END AS isreplaypaused
FROM pg_catalog.pg_user WHERE usename = current_user

-- databases
SELECT db.datname AS name, ta.spcname AS spcname, db.datallowconn, db.datistemplate AS is_template,
  pg_catalog.has_database_privilege(db.oid, 'CREATE') AS cancreate, datdba AS owner, descr.description
FROM pg_catalog.pg_database db LEFT OUTER JOIN pg_catalog.pg_tablespace ta ON db.dattablespace = ta.oid
LEFT OUTER JOIN pg_catalog.pg_shdescription descr ON (db.oid = descr.objoid AND descr.classoid = 'pg_database'::regclass)
WHERE db.datname = 'antumbra' ORDER BY datname

-- properties of a database
SELECT db.datname AS name, db.dattablespace AS spcoid, spcname, datallowconn, pg_catalog.pg_encoding_to_char(encoding) AS encoding,
  pg_catalog.pg_get_userbyid(datdba) AS datowner, db.datcollate, db.datctype, datconnlimit,
  pg_catalog.has_database_privilege(db.oid, 'CREATE') AS cancreate, pg_catalog.current_setting('default_tablespace') AS default_tablespace,
  descr.description AS comments, db.datistemplate AS is_template,
  pg_catalog.array_to_string(db.datacl::text[], ', ') AS acl, db.datlocprovider
FROM pg_catalog.pg_database db LEFT OUTER JOIN pg_catalog.pg_tablespace ta ON db.dattablespace = ta.oid
LEFT OUTER JOIN pg_catalog.pg_shdescription descr ON (db.oid = descr.objoid AND descr.classoid = 'pg_database'::regclass)
WHERE db.datname = current_database()

-- default privileges of a database
SELECT CASE (a.deftype) WHEN 'r' THEN 'deftblacl' WHEN 'S' THEN 'defseqacl' WHEN 'f' THEN 'deffuncacl' WHEN 'T' THEN 'deftypeacl' END AS deftype,
  COALESCE(gt.rolname, 'PUBLIC') grantee, g.rolname grantor, pg_catalog.array_agg(a.privilege_type) AS privileges,
  pg_catalog.array_agg(a.is_grantable) AS grantable
FROM (SELECT (acl).grantee AS grantee, (acl).grantor AS grantor, (acl).is_grantable AS is_grantable, (acl).privilege_type AS privilege_type, deftype
  FROM (SELECT defaclobjtype AS deftype, pg_catalog.aclexplode(defaclacl) AS acl FROM pg_catalog.pg_default_acl dacl
    WHERE dacl.defaclnamespace = 0::OID) d) a
LEFT JOIN pg_catalog.pg_roles g ON (a.grantor = g.oid) LEFT JOIN pg_catalog.pg_roles gt ON (a.grantee = gt.oid)
GROUP BY g.rolname, gt.rolname, a.deftype ORDER BY a.deftype

-- statistics of databases
SELECT db.datname AS "Database", numbackends >= 0 AS "Backends", xact_commit >= 0 AS "Xact committed", xact_rollback >= 0 AS "Xact rolled back",
  blks_read >= 0 AS "Blocks Read", tup_returned >= 0 AS "Tuples returned", conflicts AS "Conflicts", temp_files AS "Temporary files",
  deadlocks AS "Deadlocks", slave.confl_tablespace AS "Tablespace conflicts"
FROM pg_catalog.pg_stat_database db JOIN pg_catalog.pg_stat_database_conflicts slave ON db.datid = slave.datid
WHERE db.datname = current_database()

-- schemas
SELECT nsp.oid, nsp.nspname AS name, pg_catalog.has_schema_privilege(nsp.oid, 'CREATE') AS can_create,
  pg_catalog.has_schema_privilege(nsp.oid, 'USAGE') AS has_usage, des.description
FROM pg_catalog.pg_namespace nsp
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = nsp.oid AND des.classoid = 'pg_namespace'::regclass)
WHERE nspname NOT LIKE 'pg!_%' escape '!' AND NOT (
  (nsp.nspname = 'pg_catalog' AND EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'pg_class' AND relnamespace = nsp.oid LIMIT 1))
  OR (nsp.nspname = 'information_schema' AND EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'tables' AND relnamespace = nsp.oid LIMIT 1)))
ORDER BY nspname

-- properties of a schema
SELECT CASE WHEN (nspname LIKE E'pg\\_temp\\_%') THEN 1 WHEN (nspname LIKE E'pg\\_%') THEN 0 ELSE 3 END AS nsptyp, nsp.nspname AS name,
  nsp.oid, pg_catalog.array_to_string(nsp.nspacl::text[], ', ') AS acl, r.rolname AS namespaceowner, description,
  pg_catalog.has_schema_privilege(nsp.oid, 'CREATE') AS can_create,
  (SELECT pg_catalog.array_to_string(defaclacl::text[], ', ') FROM pg_catalog.pg_default_acl WHERE defaclobjtype = 'r' AND defaclnamespace = nsp.oid) AS tblacl,
  (SELECT array_agg(provider || '=' || label) FROM pg_seclabels sl1 WHERE sl1.objoid = nsp.oid) AS seclabels
FROM pg_catalog.pg_namespace nsp
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = nsp.oid AND des.classoid = 'pg_namespace'::regclass)
LEFT JOIN pg_catalog.pg_roles r ON (r.oid = nsp.nspowner)
WHERE nspname = 'public'

-- privileges of a schema
SELECT 'nspacl' AS deftype, COALESCE(gt.rolname, 'PUBLIC') grantee, g.rolname grantor, pg_catalog.array_agg(b.privilege_type) AS privileges,
  pg_catalog.array_agg(b.is_grantable) AS grantable
FROM (SELECT (d).grantee AS grantee, (d).grantor AS grantor, (d).is_grantable AS is_grantable,
    CASE (d).privilege_type WHEN 'CREATE' THEN 'C' WHEN 'USAGE' THEN 'U' ELSE 'UNKNOWN - ' || (d).privilege_type END AS privilege_type
  FROM (SELECT pg_catalog.aclexplode(nsp.nspacl) AS d FROM pg_catalog.pg_namespace nsp WHERE nsp.nspname = 'public') a) b
LEFT JOIN pg_catalog.pg_roles g ON (b.grantor = g.oid) LEFT JOIN pg_catalog.pg_roles gt ON (b.grantee = gt.oid)
GROUP BY g.rolname, gt.rolname

-- tables
SELECT rel.oid, rel.relname AS name, (SELECT count(*) FROM pg_trigger WHERE tgrelid = rel.oid AND tgisinternal = FALSE) AS triggercount,
  (SELECT count(*) FROM pg_trigger WHERE tgrelid = rel.oid AND tgisinternal = FALSE AND tgenabled = 'O') AS has_enable_triggers,
  (CASE WHEN rel.relkind = 'p' THEN true ELSE false END) AS is_partitioned,
  (SELECT count(1) FROM pg_catalog.pg_inherits WHERE inhrelid = rel.oid LIMIT 1) AS is_inherits,
  (SELECT count(1) FROM pg_catalog.pg_inherits WHERE inhparent = rel.oid LIMIT 1) AS is_inherited, des.description
FROM pg_catalog.pg_class rel
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = rel.oid AND des.objsubid = 0 AND des.classoid = 'pg_class'::regclass)
WHERE rel.relkind IN ('r', 's', 't', 'p') AND rel.relnamespace = 'public'::regnamespace::oid AND NOT rel.relispartition
ORDER BY rel.relname

-- properties of a table
SELECT rel.oid, rel.relname AS name, rel.reltablespace AS spcoid, rel.relacl AS relacl_str,
  (CASE WHEN length(spc.spcname::text) > 0 OR rel.relkind = 'p' THEN spc.spcname ELSE
    (SELECT sp.spcname FROM pg_database dtb JOIN pg_tablespace sp ON dtb.dattablespace = sp.oid WHERE dtb.datname = current_database())
  END) AS spcname,
  (SELECT nspname FROM pg_namespace WHERE oid = rel.relnamespace) AS schema, pg_get_userbyid(rel.relowner) AS relowner, rel.relkind,
  (CASE WHEN rel.relkind = 'p' THEN true ELSE false END) AS is_partitioned, rel.relhassubclass, des.description, con.conname, con.conkey,
  EXISTS(SELECT 1 FROM pg_trigger JOIN pg_proc pt ON pt.oid = tgfoid AND pt.proname = 'logtrigger'
    JOIN pg_proc pc ON pc.pronamespace = pt.pronamespace AND pc.proname = 'slonyversion' WHERE tgrelid = rel.oid) AS isrepl,
  (SELECT count(*) FROM pg_trigger WHERE tgrelid = rel.oid AND tgisinternal = FALSE) AS triggercount,
  (SELECT ARRAY(SELECT CASE WHEN (nspname NOT LIKE 'pg\_%') THEN quote_ident(nspname) || '.' || quote_ident(c.relname)
      ELSE quote_ident(c.relname) END AS inherited_tables
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE i.inhrelid = rel.oid ORDER BY inhseqno)) AS coll_inherits,
  (CASE WHEN rel.relpersistence = 'u' THEN true ELSE false END) AS relpersistence,
  substring(array_to_string(rel.reloptions, ',') FROM 'fillfactor=([0-9]*)') AS fillfactor,
  (substring(array_to_string(rel.reloptions, ',') FROM 'autovacuum_enabled=([a-z|0-9]*)'))::BOOL AS autovacuum_enabled,
  (substring(array_to_string(tst.reloptions, ',') FROM 'autovacuum_enabled=([a-z|0-9]*)'))::BOOL AS toast_autovacuum_enabled,
  rel.reloptions AS reloptions, tst.reloptions AS toast_reloptions, rel.reloftype,
  CASE WHEN typ.typname IS NOT NULL THEN
    (SELECT quote_ident(nspname) FROM pg_namespace WHERE oid = rel.relnamespace) || '.' || quote_ident(typ.typname) ELSE typ.typname END AS typname,
  typ.typrelid AS typoid, rel.relrowsecurity AS rlspolicy, rel.relforcerowsecurity AS forcerlspolicy,
  (SELECT array_agg(provider || '=' || label) FROM pg_seclabels sl1 WHERE sl1.objoid = rel.oid AND sl1.objsubid = 0) AS seclabels,
  (CASE WHEN rel.oid <= 16383::oid THEN true ELSE false END) AS is_sys_table,
  (CASE WHEN rel.relkind = 'p' THEN pg_get_partkeydef(rel.oid) ELSE '' END) AS partition_scheme
FROM pg_class rel LEFT OUTER JOIN pg_tablespace spc ON spc.oid = rel.reltablespace
LEFT OUTER JOIN pg_description des ON (des.objoid = rel.oid AND des.objsubid = 0 AND des.classoid = 'pg_class'::regclass)
LEFT OUTER JOIN pg_constraint con ON con.conrelid = rel.oid AND con.contype = 'p'
LEFT OUTER JOIN pg_class tst ON tst.oid = rel.reltoastrelid
LEFT JOIN pg_type typ ON rel.reloftype = typ.oid
WHERE rel.relkind IN ('r', 's', 't', 'p') AND rel.relnamespace = 'public'::regnamespace AND NOT rel.relispartition
ORDER BY rel.relname

-- privileges of a table
SELECT 'relacl' AS deftype, COALESCE(gt.rolname, 'PUBLIC') grantee, g.rolname grantor, pg_catalog.array_agg(b.privilege_type) AS privileges,
  pg_catalog.array_agg(b.is_grantable) AS grantable
FROM (SELECT (d).grantee AS grantee, (d).grantor AS grantor, (d).is_grantable AS is_grantable,
    CASE (d).privilege_type WHEN 'SELECT' THEN 'r' WHEN 'INSERT' THEN 'a' WHEN 'UPDATE' THEN 'w' WHEN 'DELETE' THEN 'd'
      WHEN 'TRUNCATE' THEN 'D' WHEN 'REFERENCES' THEN 'x' WHEN 'TRIGGER' THEN 't' ELSE 'UNKNOWN' END AS privilege_type
  FROM (SELECT aclexplode(rel.relacl) AS d FROM pg_class rel WHERE rel.relkind IN ('r', 's', 't', 'p') AND rel.oid = <visit>::oid) a) b
LEFT JOIN pg_catalog.pg_roles g ON (b.grantor = g.oid) LEFT JOIN pg_catalog.pg_roles gt ON (b.grantee = gt.oid)
GROUP BY g.rolname, gt.rolname ORDER BY grantee

-- columns
SELECT DISTINCT att.attname AS name, att.attnum AS OID, pg_catalog.format_type(ty.oid, NULL) AS datatype,
  pg_catalog.format_type(ty.oid, att.atttypmod) AS displaytypname, att.attnotnull AS not_null,
  CASE WHEN att.atthasdef OR att.attidentity != '' OR ty.typdefault IS NOT NULL THEN True ELSE False END AS has_default_val,
  des.description, seq.seqtypid
FROM pg_catalog.pg_attribute att JOIN pg_catalog.pg_type ty ON ty.oid = atttypid
JOIN pg_catalog.pg_namespace tn ON tn.oid = ty.typnamespace JOIN pg_catalog.pg_class cl ON cl.oid = att.attrelid
JOIN pg_catalog.pg_namespace na ON na.oid = cl.relnamespace LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = ty.typelem
LEFT OUTER JOIN pg_catalog.pg_attrdef def ON adrelid = att.attrelid AND adnum = att.attnum
LEFT OUTER JOIN (pg_catalog.pg_depend JOIN pg_catalog.pg_class cs ON classid = 'pg_class'::regclass AND objid = cs.oid AND cs.relkind = 'S')
  ON refobjid = att.attrelid AND refobjsubid = att.attnum
LEFT OUTER JOIN pg_catalog.pg_namespace ns ON ns.oid = cs.relnamespace
LEFT OUTER JOIN pg_catalog.pg_index pi ON pi.indrelid = att.attrelid AND indisprimary
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = att.attrelid AND des.objsubid = att.attnum AND des.classoid = 'pg_class'::regclass)
LEFT OUTER JOIN pg_catalog.pg_sequence seq ON cs.oid = seq.seqrelid
WHERE att.attrelid = <city>::oid AND att.attnum > 0 AND att.attisdropped IS FALSE ORDER BY att.attnum

-- properties of columns
SELECT att.attname AS name, att.atttypid, att.attlen, att.attnum, att.attndims, att.atttypmod, att.attacl, att.attnotnull, att.attoptions,
  att.attfdwoptions, att.attstattarget, att.attstorage, att.attidentity,
  pg_catalog.pg_get_expr(def.adbin, def.adrelid) AS defval, pg_catalog.format_type(ty.oid, NULL) AS typname,
  pg_catalog.format_type(ty.oid, att.atttypmod) AS displaytypname,
  CASE WHEN ty.typelem > 0 THEN ty.typelem ELSE ty.oid END AS elemoid,
  (SELECT nspname FROM pg_catalog.pg_namespace WHERE oid = ty.typnamespace) AS typnspname, ty.typstorage AS defaultstorage, description,
  pi.indkey, (SELECT count(1) FROM pg_catalog.pg_type t2 WHERE t2.typname = ty.typname) > 1 AS isdup,
  CASE WHEN length(coll.collname::text) > 0 AND length(nspc.nspname::text) > 0 THEN
    pg_catalog.concat(pg_catalog.quote_ident(nspc.nspname), '.', pg_catalog.quote_ident(coll.collname)) ELSE '' END AS collspcname,
  EXISTS(SELECT 1 FROM pg_catalog.pg_constraint WHERE conrelid = att.attrelid AND contype = 'f' AND att.attnum = ANY(conkey)) AS is_fk,
  CASE WHEN att.attgenerated = 's' THEN 's' WHEN att.attidentity IN ('a', 'd') THEN 'i' WHEN def.adbin IS NOT NULL THEN 'd' ELSE 'n' END AS colconstype,
  (SELECT array_agg(provider || '=' || label) FROM pg_seclabels sl1 WHERE sl1.objoid = att.attrelid AND sl1.objsubid = att.attnum) AS seclabels,
  seq.*
FROM pg_catalog.pg_attribute att JOIN pg_catalog.pg_type ty ON ty.oid = atttypid
LEFT OUTER JOIN pg_catalog.pg_attrdef def ON adrelid = att.attrelid AND adnum = att.attnum
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = att.attrelid AND des.objsubid = att.attnum AND des.classoid = 'pg_class'::regclass)
LEFT OUTER JOIN (pg_catalog.pg_depend JOIN pg_catalog.pg_class cs ON classid = 'pg_class'::regclass AND objid = cs.oid AND cs.relkind = 'S')
  ON refobjid = att.attrelid AND refobjsubid = att.attnum
LEFT OUTER JOIN pg_catalog.pg_index pi ON pi.indrelid = att.attrelid AND indisprimary
LEFT OUTER JOIN pg_catalog.pg_collation coll ON att.attcollation = coll.oid
LEFT OUTER JOIN pg_catalog.pg_namespace nspc ON coll.collnamespace = nspc.oid
LEFT OUTER JOIN pg_catalog.pg_sequence seq ON cs.oid = seq.seqrelid
WHERE att.attrelid = <line>::oid AND att.attnum > 0 AND att.attisdropped IS FALSE ORDER BY att.attnum

-- keys
SELECT cls.oid, cls.relname AS name, CASE WHEN length(spcname::text) > 0 THEN spcname ELSE
    (SELECT sp.spcname FROM pg_catalog.pg_database dtb JOIN pg_catalog.pg_tablespace sp ON dtb.dattablespace = sp.oid
     WHERE dtb.datname = current_database()) END AS spcname,
  CASE contype WHEN 'p' THEN desp.description WHEN 'u' THEN desp.description ELSE des.description END AS comment,
  condeferrable, condeferred, conislocal, substring(array_to_string(cls.reloptions, ',') from 'fillfactor=([0-9]*)') AS fillfactor
FROM pg_catalog.pg_index idx JOIN pg_catalog.pg_class cls ON cls.oid = indexrelid
LEFT OUTER JOIN pg_catalog.pg_tablespace ta ON ta.oid = cls.reltablespace
LEFT JOIN pg_catalog.pg_depend dep ON (dep.classid = cls.tableoid AND dep.objid = cls.oid AND dep.refobjsubid = '0'
  AND dep.refclassid = (SELECT oid FROM pg_catalog.pg_class WHERE relname = 'pg_constraint') AND dep.deptype = 'i')
LEFT OUTER JOIN pg_catalog.pg_constraint con ON (con.tableoid = dep.refclassid AND con.oid = dep.refobjid)
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = cls.oid AND des.classoid = 'pg_class'::regclass)
LEFT OUTER JOIN pg_catalog.pg_description desp ON (desp.objoid = con.oid AND desp.objsubid = 0 AND desp.classoid = 'pg_constraint'::regclass)
WHERE indrelid = <visit>::oid AND contype = 'p' ORDER BY cls.relname

-- columns of an index
SELECT a.attname AS column, i.attnum FROM (SELECT attnum, indrelid FROM pg_catalog.pg_index,
    pg_catalog.pg_attribute WHERE attrelid = indexrelid AND indrelid = <visit>::oid AND indisprimary) i
JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.attnum ORDER BY 2

-- foreign keys
SELECT ct.oid, conname AS name, condeferrable, condeferred, confupdtype, confdeltype,
  CASE confmatchtype WHEN 's' THEN FALSE WHEN 'f' THEN TRUE END AS confmatchtype, conkey, confkey, confrelid,
  nl.nspname AS fknsp, cl.relname AS fktab, nr.oid AS refnspoid, nr.nspname AS refnsp, cr.relname AS reftab, description AS comment, convalidated, conislocal
FROM pg_catalog.pg_constraint ct JOIN pg_catalog.pg_class cl ON cl.oid = conrelid JOIN pg_catalog.pg_namespace nl ON nl.oid = cl.relnamespace
JOIN pg_catalog.pg_class cr ON cr.oid = confrelid JOIN pg_catalog.pg_namespace nr ON nr.oid = cr.relnamespace
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = ct.oid AND des.classoid = 'pg_constraint'::regclass)
WHERE contype = 'f' AND conrelid = <visit>::oid ORDER BY conname

-- columns of foreign keys
SELECT a1.attname AS conattname, a2.attname AS confattname
FROM pg_catalog.pg_attribute a1, pg_catalog.pg_attribute a2, pg_catalog.pg_constraint c
WHERE c.conrelid = <visit>::oid AND c.contype = 'f' AND a1.attrelid = c.conrelid AND a1.attnum = c.conkey[1]
  AND a2.attrelid = c.confrelid AND a2.attnum = c.confkey[1] ORDER BY 1

-- checks
SELECT 'false' AS no_inherit, c.oid, conname AS name, relname, nspname, description AS comment,
  pg_catalog.pg_get_expr(conbin, conrelid, true) AS consrc, connoinherit, convalidated, conislocal
FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_class cl ON cl.oid = conrelid
LEFT OUTER JOIN pg_catalog.pg_namespace nl ON nl.oid = connamespace
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = c.oid AND des.classoid = 'pg_constraint'::regclass)
WHERE contype = 'c' AND conrelid = <city>::oid

-- indexes
SELECT DISTINCT ON(cls.relname) cls.oid, cls.relname AS name,
  (SELECT (CASE WHEN count(i.inhrelid) > 0 THEN true ELSE false END) FROM pg_inherits i WHERE i.inhrelid = cls.oid) AS is_inherited, des.description
FROM pg_catalog.pg_index idx JOIN pg_catalog.pg_class cls ON cls.oid = indexrelid JOIN pg_catalog.pg_class tab ON tab.oid = indrelid
LEFT OUTER JOIN pg_catalog.pg_tablespace ta ON ta.oid = cls.reltablespace JOIN pg_catalog.pg_namespace n ON n.oid = tab.relnamespace
JOIN pg_catalog.pg_am am ON am.oid = cls.relam
LEFT JOIN pg_catalog.pg_depend dep ON (dep.classid = cls.tableoid AND dep.objid = cls.oid AND dep.refobjsubid = '0'
  AND dep.refclassid = (SELECT oid FROM pg_catalog.pg_class WHERE relname = 'pg_constraint') AND dep.deptype = 'i')
LEFT OUTER JOIN pg_catalog.pg_constraint con ON (con.tableoid = dep.refclassid AND con.oid = dep.refobjid)
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = cls.oid AND des.classoid = 'pg_class'::regclass)
WHERE indrelid = <visit>::oid AND conname IS NULL ORDER BY cls.relname

-- properties of indexes
SELECT DISTINCT ON(cls.relname) cls.oid, cls.relname AS name, indrelid, indkey, indisclustered, indisvalid, indisunique, indisprimary,
  n.nspname, indnatts, cls.reltablespace AS spcoid, tab.relname AS tabname, indclass, am.amname,
  CASE WHEN contype IN ('p', 'u', 'x') THEN desp.description ELSE des.description END AS description,
  pg_catalog.pg_get_expr(indpred, indrelid, true) AS indconstraint, contype, condeferrable, condeferred,
  (SELECT count(*) FROM generate_subscripts(idx.indkey, 1)) AS keys, pg_get_indexdef(cls.oid) AS definition
FROM pg_catalog.pg_index idx JOIN pg_catalog.pg_class cls ON cls.oid = indexrelid JOIN pg_catalog.pg_class tab ON tab.oid = indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = tab.relnamespace JOIN pg_catalog.pg_am am ON am.oid = cls.relam
LEFT JOIN pg_catalog.pg_depend dep ON (dep.classid = cls.tableoid AND dep.objid = cls.oid AND dep.refobjsubid = '0'
  AND dep.refclassid = (SELECT oid FROM pg_catalog.pg_class WHERE relname = 'pg_constraint') AND dep.deptype = 'i')
LEFT OUTER JOIN pg_catalog.pg_constraint con ON (con.tableoid = dep.refclassid AND con.oid = dep.refobjid)
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = cls.oid AND des.classoid = 'pg_class'::regclass)
LEFT OUTER JOIN pg_catalog.pg_description desp ON (desp.objoid = con.oid AND desp.objsubid = 0 AND desp.classoid = 'pg_constraint'::regclass)
WHERE indrelid = <visit>::oid ORDER BY cls.relname

-- columns of all indexes
SELECT i.indexrelid, CASE i.indoption[0] WHEN 3 THEN 'DESC' ELSE 'ASC' END AS direction, a.attnum, a.attname,
  pg_catalog.pg_get_indexdef(i.indexrelid, a.attnum, true) AS coldef, op.oprname, opc.opcname
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_attribute a ON (a.attrelid = i.indexrelid AND attnum = 1)
LEFT JOIN pg_catalog.pg_constraint c ON c.conindid = i.indexrelid AND c.contype = 'x'
LEFT JOIN pg_catalog.pg_operator op ON op.oid = c.conexclop[1] LEFT JOIN pg_catalog.pg_opclass opc ON opc.oid = i.indclass[0]
WHERE i.indrelid = <visit> ORDER BY a.attname

-- views
SELECT c.oid, c.relname AS name, description AS comment FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = c.oid AND des.objsubid = 0 AND des.classoid = 'pg_class'::regclass)
WHERE c.relkind = 'v' AND c.relnamespace = 'public'::regnamespace::oid ORDER BY c.relname

-- properties of a view
SELECT c.oid, c.xmin IS NOT NULL AS known, (CASE WHEN length(spc.spcname::text) > 0 THEN spc.spcname ELSE 'pg_default' END) AS spcname,
  c.relname AS name, c.reltablespace AS spcoid, pg_catalog.pg_get_userbyid(c.relowner) AS owner, description AS comment,
  pg_catalog.array_to_string(c.relacl::text[], ', ') AS acl,
  substring(pg_catalog.array_to_string(c.reloptions, ',') FROM 'security_barrier=([a-z|0-9]*)')::boolean AS security_barrier,
  substring(pg_catalog.array_to_string(c.reloptions, ',') FROM 'check_option=([a-z]*)') AS check_option
FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_namespace nsp ON nsp.oid = c.relnamespace
LEFT OUTER JOIN pg_catalog.pg_tablespace spc ON spc.oid = c.reltablespace
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = c.oid AND des.objsubid = 0 AND des.classoid = 'pg_class'::regclass)
WHERE ((c.relhasrules AND (EXISTS (SELECT r.rulename FROM pg_catalog.pg_rewrite r WHERE ((r.ev_class = c.oid)
  AND (bpchar(r.ev_type) = '1'::bpchar))))) OR (c.relkind = 'v'::char)) AND c.oid = <large>::oid

-- sequences
SELECT cl.oid, relname AS name, relacl FROM pg_catalog.pg_class cl
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = cl.oid AND des.classoid = 'pg_class'::regclass)
LEFT JOIN pg_catalog.pg_depend d1 ON d1.refobjid = cl.oid AND d1.deptype = 'i'
WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace::oid ORDER BY relname

-- foreign tables
SELECT c.oid, c.relname AS name, pg_catalog.pg_get_userbyid(relowner) AS owner, ftoptions, nspname AS basensp, description
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_foreign_table ft ON c.oid = ft.ftrelid
LEFT OUTER JOIN pg_catalog.pg_namespace nsp ON (nsp.oid = c.relnamespace)
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = c.oid AND des.classoid = 'pg_class'::regclass AND des.objsubid = 0)
WHERE c.relnamespace = 'public'::regnamespace::oid ORDER BY c.relname

-- roles
SELECT r.oid, r.rolname, r.rolcanlogin, r.rolsuper, pg_catalog.shobj_description(r.oid, 'pg_authid') AS description FROM pg_catalog.pg_roles r
WHERE r.rolname !~ '^pg_' ORDER BY r.rolcanlogin, r.rolname

-- memberships
SELECT r.rolname, ARRAY(SELECT CASE WHEN am.admin_option THEN '1' ELSE '0' END || rm.rolname
    FROM (SELECT * FROM pg_catalog.pg_auth_members WHERE member = r.oid) am LEFT JOIN pg_catalog.pg_roles rm ON (rm.oid = am.roleid)
    ORDER BY rm.rolname) AS rolmembership
FROM pg_catalog.pg_roles r WHERE r.rolname IN ('reader', 'writers') ORDER BY r.rolname

-- settings of roles
SELECT split_part(rolconfig, '=', 1) AS name, replace(rolconfig, split_part(rolconfig, '=', 1) || '=', '') AS value, NULL::text AS database
FROM (SELECT pg_catalog.unnest(rolconfig) AS rolconfig, rolcanlogin, rolname FROM pg_catalog.pg_roles WHERE rolname = 'reader') r

-- types
SELECT t.oid, t.typname AS name, des.description FROM pg_catalog.pg_type t LEFT OUTER JOIN pg_catalog.pg_type e ON e.oid = t.typelem
LEFT OUTER JOIN pg_catalog.pg_class ct ON ct.oid = t.typrelid AND ct.relkind <> 'c'
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = t.oid AND des.classoid = 'pg_type'::regclass)
WHERE t.typtype != 'd' AND t.typname NOT LIKE E'\\_%' AND t.typnamespace = 'public'::regnamespace::oid AND ct.oid IS NULL ORDER BY t.typname

-- types of columns
SELECT * FROM (SELECT pg_catalog.format_type(t.oid, NULL) AS typname, CASE WHEN typelem > 0 THEN typelem ELSE t.oid END AS elemoid, typlen,
    typtype, t.oid, nspname, (SELECT COUNT(1) FROM pg_catalog.pg_type t2 WHERE t2.typname = t.typname) > 1 AS isdup,
    CASE WHEN t.typcollation != 0 THEN TRUE ELSE FALSE END AS is_collatable
  FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace nsp ON typnamespace = nsp.oid
  WHERE (NOT (typname = 'unknown' AND nspname = 'pg_catalog')) AND typisdefined AND typtype IN ('b', 'c', 'd', 'e', 'r', 'm')
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE relnamespace = typnamespace AND relname = typname AND relkind != 'c')
    AND (typname NOT LIKE '_%' OR NOT EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE relnamespace = typnamespace
      AND relname = substring(typname FROM 2)::name AND relkind != 'c')) AND nsp.nspname != 'information_schema') AS dummy
WHERE typname IN ('integer', 'text', 'numeric', 'timestamp with time zone', 'boolean', 'double precision') ORDER BY 1

-- collations
SELECT --nspname, collname,
  CASE WHEN length(nspname::text) > 0 AND length(collname::text) > 0 THEN
    pg_catalog.concat(pg_catalog.quote_ident(nspname), '.', pg_catalog.quote_ident(collname)) ELSE '' END AS copy_collation
FROM pg_catalog.pg_collation c, pg_catalog.pg_namespace n WHERE c.collnamespace = n.oid AND c.collname IN ('C', 'POSIX') ORDER BY nspname, collname

-- extensions
SELECT x.extname FROM pg_catalog.pg_extension x LEFT JOIN pg_catalog.pg_namespace n ON x.extnamespace = n.oid
JOIN (SELECT * FROM pg_catalog.pg_available_extensions) e ON x.extname = e.name WHERE x.extname <> 'plpgsql'

-- casts
SELECT ca.oid, pg_catalog.concat(pg_catalog.format_type(st.oid, NULL), '->', pg_catalog.format_type(tt.oid, tt.typtypmod)) AS name
FROM pg_catalog.pg_cast ca JOIN pg_catalog.pg_type st ON st.oid = castsource JOIN pg_catalog.pg_type tt ON tt.oid = casttarget
WHERE ca.oid > 16383::OID ORDER BY st.typname, tt.typname

-- event triggers
SELECT e.oid, e.evtname AS name FROM pg_catalog.pg_event_trigger e ORDER BY e.evtname

-- statistics of a table
SELECT seq_scan >= 0 AS "Sequential scans", n_tup_ins >= 0 AS "Tuples inserted", n_live_tup >= 0 AS "Live Tuples",
  (CASE WHEN (pg_catalog.pg_relation_size(stat.relid) + pg_catalog.pg_table_size(stat.relid)) >= 0 THEN 'counted' END) AS "Size",
  last_vacuum, vacuum_count AS "Vacuum counter"
FROM pg_catalog.pg_stat_all_tables stat JOIN pg_catalog.pg_statio_all_tables statio ON stat.relid = statio.relid
JOIN pg_catalog.pg_class cl ON cl.oid = stat.relid WHERE stat.relid = <city>::oid

-- dependents
SELECT DISTINCT dep.deptype, dep.refclassid::regclass::text, cl.relkind, ad.adbin IS NOT NULL AS has_default,
  CASE WHEN cl.relkind IS NOT NULL AND dep.refobjsubid > 0 THEN 'c' WHEN tg.oid IS NOT NULL THEN 'T' WHEN ty.oid IS NOT NULL THEN 'y' ELSE '' END AS type,
  COALESCE(coc.relname, clrw.relname) AS ownertable,
  CASE WHEN cl.relname IS NOT NULL THEN cl.relname ELSE COALESCE(co.conname, pr.proname, tg.tgname, ty.typname, la.lanname, rw.rulename, ns.nspname) END AS refname,
  COALESCE(nsc.nspname, nso.nspname, nsp.nspname, nst.nspname, nsrw.nspname) AS nspname
FROM pg_catalog.pg_depend dep LEFT JOIN pg_catalog.pg_class cl ON dep.refobjid = cl.oid
LEFT JOIN pg_catalog.pg_attribute att ON dep.refobjid = att.attrelid AND dep.refobjsubid = att.attnum
LEFT JOIN pg_catalog.pg_namespace nsc ON cl.relnamespace = nsc.oid LEFT JOIN pg_catalog.pg_proc pr ON dep.refobjid = pr.oid
LEFT JOIN pg_catalog.pg_namespace nsp ON pr.pronamespace = nsp.oid LEFT JOIN pg_catalog.pg_trigger tg ON dep.refobjid = tg.oid
LEFT JOIN pg_catalog.pg_type ty ON dep.refobjid = ty.oid LEFT JOIN pg_catalog.pg_namespace nst ON ty.typnamespace = nst.oid
LEFT JOIN pg_catalog.pg_constraint co ON dep.refobjid = co.oid LEFT JOIN pg_catalog.pg_class coc ON co.conrelid = coc.oid
LEFT JOIN pg_catalog.pg_namespace nso ON co.connamespace = nso.oid LEFT JOIN pg_catalog.pg_rewrite rw ON dep.refobjid = rw.oid
LEFT JOIN pg_catalog.pg_class clrw ON clrw.oid = rw.ev_class LEFT JOIN pg_catalog.pg_namespace nsrw ON clrw.relnamespace = nsrw.oid
LEFT JOIN pg_catalog.pg_language la ON dep.refobjid = la.oid LEFT JOIN pg_catalog.pg_namespace ns ON dep.refobjid = ns.oid
LEFT JOIN pg_catalog.pg_attrdef ad ON ad.adrelid = att.attrelid AND ad.adnum = att.attnum
WHERE dep.objid = (SELECT conindid FROM pg_catalog.pg_constraint WHERE conrelid = <visit> AND contype = 'p')

-- dashboard
SELECT 'session_stats' AS chart_name, pg_catalog.row_to_json(t) AS chart_data
FROM (SELECT (SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE datname = current_database()) AS "Total",
  (SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE state = 'active' AND datname = current_database()) AS "Active",
  (SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE state = 'idle' AND datname = current_database()) AS "Idle") t
UNION ALL
SELECT 'tps_stats' AS chart_name, pg_catalog.row_to_json(t) AS chart_data
FROM (SELECT (SELECT sum(xact_commit) + sum(xact_rollback) FROM pg_catalog.pg_stat_database WHERE datname = current_database()) AS "Transactions",
  (SELECT sum(xact_commit) FROM pg_catalog.pg_stat_database WHERE datname = current_database()) AS "Commits",
  (SELECT sum(xact_rollback) FROM pg_catalog.pg_stat_database WHERE datname = current_database()) AS "Rollbacks") t
UNION ALL
SELECT 'ti_stats' AS chart_name, pg_catalog.row_to_json(t) AS chart_data
FROM (SELECT (SELECT sum(tup_inserted) FROM pg_catalog.pg_stat_database WHERE datname = current_database()) AS "Inserts",
  (SELECT sum(tup_updated) FROM pg_catalog.pg_stat_database WHERE datname = current_database()) AS "Updates",
  (SELECT sum(tup_deleted) FROM pg_catalog.pg_stat_database WHERE datname = current_database()) AS "Deletes") t

-- activity
SELECT pid, datname, usename, application_name, client_addr, pg_catalog.to_char(backend_start, 'YYYY-MM-DD HH24:MI:SS TZ') AS backend_start,
  state, wait_event_type || ': ' || wait_event AS wait_event, array_to_string(pg_catalog.pg_blocking_pids(pid), ', ') AS blocking_pids, query,
  pg_catalog.to_char(state_change, 'YYYY-MM-DD HH24:MI:SS TZ') AS state_change,
  pg_catalog.to_char(query_start, 'YYYY-MM-DD HH24:MI:SS TZ') AS query_start, backend_type,
  CASE WHEN state = 'active' THEN ROUND((extract(epoch from now() - query_start) / 60)::numeric, 2) ELSE 0 END AS active_since
FROM pg_catalog.pg_stat_activity WHERE datname = current_database() ORDER BY pid

-- locks
SELECT pid, locktype, datname, relation::regclass, page, tuple, virtualxid transactionid, classid::regclass, objid, virtualtransaction, mode, granted, fastpath
FROM pg_catalog.pg_locks l LEFT OUTER JOIN pg_catalog.pg_database d ON (l.database = d.oid) ORDER BY pid, locktype

-- prepared transactions
SELECT * FROM pg_catalog.pg_prepared_xacts

-- configuration
SELECT name, category, setting, unit, short_desc FROM pg_catalog.pg_settings ORDER BY category
