-- pg_tables
SELECT * FROM pg_tables WHERE schemaname = 'public'

-- pg_indexes
SELECT * FROM pg_indexes WHERE schemaname = 'public'

-- pg_sequences
SELECT * FROM pg_sequences WHERE schemaname = 'public' AND sequencename <> 'line_id_seq'

-- pg_matviews
SELECT * FROM pg_matviews

-- pg_roles
SELECT * FROM pg_roles WHERE rolname IN ('antumbra', 'reader', 'writers')

-- pg_user
SELECT * FROM pg_user

-- pg_shadow
SELECT usename, usesysid, usecreatedb, usesuper, userepl, usebypassrls, valuntil, useconfig FROM pg_shadow

-- pg_group
SELECT * FROM pg_group WHERE groname = 'writers'

-- pg_stat_user_tables
SELECT relid, schemaname, relname, n_tup_upd, last_vacuum, vacuum_count FROM pg_stat_user_tables WHERE relname <> 'trips'

-- pg_statio_user_tables
SELECT relid, schemaname, relname FROM pg_statio_user_tables

-- pg_stat_user_indexes
SELECT relid, indexrelid, schemaname, relname, indexrelname FROM pg_stat_user_indexes

-- pg_stat_database
SELECT datid, datname, numbackends > 0 FROM pg_stat_database WHERE datname = 'antumbra'

-- schemata
SELECT * FROM information_schema.schemata WHERE schema_name IN ('public', 'information_schema')

-- tables
SELECT * FROM information_schema.tables WHERE table_schema = 'public' AND table_name <> 'trips'

-- columns
SELECT * FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT IN ('trips', 'fares', 'large')

-- columns of views of the catalog
SELECT column_name, ordinal_position, data_type, udt_name, is_nullable FROM information_schema.columns WHERE table_schema = 'information_schema' AND table_name IN ('tables', 'views')

-- views
SELECT table_schema, table_name, check_option, is_updatable, is_insertable_into, is_trigger_updatable FROM information_schema.views WHERE table_schema = 'public'

-- table_constraints
SELECT * FROM information_schema.table_constraints WHERE table_schema = 'public'

-- key_column_usage
SELECT * FROM information_schema.key_column_usage WHERE table_schema = 'public'

-- constraint_column_usage
SELECT * FROM information_schema.constraint_column_usage WHERE table_schema = 'public'

-- constraint_table_usage
SELECT * FROM information_schema.constraint_table_usage WHERE table_schema = 'public'

-- referential_constraints
SELECT * FROM information_schema.referential_constraints

-- check_constraints
SELECT * FROM information_schema.check_constraints WHERE constraint_schema = 'public'

-- sequences
SELECT * FROM information_schema.sequences

-- table_privileges
SELECT * FROM information_schema.table_privileges WHERE table_schema = 'public'

-- role_table_grants
SELECT * FROM information_schema.role_table_grants WHERE table_schema = 'public'

-- column_privileges
SELECT * FROM information_schema.column_privileges WHERE table_schema = 'public'

-- role_column_grants
SELECT * FROM information_schema.role_column_grants WHERE table_schema = 'public'

-- applicable_roles
SELECT * FROM information_schema.applicable_roles WHERE grantee = 'reader'

-- enabled_roles
SELECT * FROM information_schema.enabled_roles WHERE role_name IN ('antumbra', 'reader', 'writers')

-- character_sets
SELECT * FROM information_schema.character_sets

-- column_udt_usage
SELECT * FROM information_schema.column_udt_usage WHERE table_schema = 'public'

-- foreign_tables
SELECT * FROM information_schema.foreign_tables

-- foreign_table_options
SELECT * FROM information_schema.foreign_table_options

-- foreign_servers
SELECT * FROM information_schema.foreign_servers

-- domains
SELECT * FROM information_schema.domains WHERE domain_schema = 'public'

-- triggers
SELECT * FROM information_schema.triggers

-- information_schema_catalog_name
SELECT * FROM information_schema.information_schema_catalog_name

-- view_table_usage
SELECT * FROM information_schema.view_table_usage WHERE view_schema = 'public'

-- view_column_usage
SELECT * FROM information_schema.view_column_usage WHERE view_schema = 'public'

-- element_types
SELECT object_schema, object_name, collection_type_identifier, data_type, udt_name FROM information_schema.element_types WHERE object_schema = 'public' AND object_type = 'TABLE'

-- pg_locks of this transaction
SELECT locktype, virtualxid = virtualtransaction AS own, mode, granted, fastpath FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'virtualxid'

-- pg_stat_activity of this session
SELECT datname, usename, application_name, client_addr, client_port > 0, backend_start <= query_start, query_start <= now(), xact_start = now(), state, wait_event, query, backend_type FROM pg_stat_activity WHERE pid = pg_backend_pid()

-- pg_timezone_names
SELECT name, utc_offset, is_dst FROM pg_timezone_names WHERE name IN ('UTC', 'Asia/Tokyo', 'Asia/Kolkata')

-- pg_timezone_abbrevs
SELECT * FROM pg_timezone_abbrevs WHERE abbrev IN ('EST', 'CEST', 'UTC')

-- sizes
SELECT pg_size_pretty(10240::bigint), pg_size_pretty(123456789::bigint), pg_size_bytes('1 GB')
