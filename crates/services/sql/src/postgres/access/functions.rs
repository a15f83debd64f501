//! PostgreSQL's own functions and types that statements may use, by name.
//!
//! A name is in [`COMPUTING`] if every function of the name, in every version from 13 on, computes from its arguments
//! (and the clock, the time zone, random bits, text search configurations) and reaches no other data. PostgreSQL marks
//! nearly all of them `IMMUTABLE`. Not on the list are functions that run SQL in a text argument (`query_to_xml`,
//! `ts_stat`, `ts_rewrite`), read files, catalogs or settings, or resolve names of tables.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Functions that compute from their arguments only.
const COMPUTING: &str = "
  abs acos acosd acosh area array_agg array_append array_cat array_dims array_fill array_length array_lower array_ndims
  array_position array_positions array_prepend array_remove array_replace array_to_string array_to_tsvector array_upper
  any_value ascii asin asind asinh atan atan2 atan2d atand atanh avg age
  bit bit_and bit_count bit_length bit_or bit_xor bool bool_and bool_or box bpchar broadcast btrim
  cardinality cbrt ceil ceiling center char char_length character_length chr circle clock_timestamp coalesce concat concat_ws
  convert_from convert_to corr cos cosd cosh cot cotd count covar_pop covar_samp crc32 crc32c cume_dist
  date date_add date_bin date_part date_subtract date_trunc daterange datemultirange decode degrees dense_rank diagonal
  diameter div
  encode enum_first enum_last enum_range erf erfc every exp extract
  factorial family first_value float4 float8 floor format
  gamma gcd gen_random_uuid generate_series generate_subscripts get_bit get_byte greatest
  height host hostmask
  inet_merge inet_same_family initcap int2 int4 int4multirange int4range int8 int8multirange int8range interval
  is_normalized isempty isfinite
  json_agg json_array_elements json_array_elements_text json_array_length json_build_array json_build_object json_each
  json_each_text json_extract_path json_extract_path_text json_object json_object_agg json_object_keys json_populate_record
  json_populate_recordset json_strip_nulls json_to_record json_to_recordset json_typeof
  jsonb_agg jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each
  jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_agg jsonb_object_keys
  jsonb_path_exists jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz jsonb_path_query jsonb_path_query_array
  jsonb_path_query_first jsonb_populate_record jsonb_populate_recordset jsonb_pretty jsonb_set jsonb_set_lax
  jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_typeof justify_days justify_hours justify_interval
  lag last_value lcm lead least left length lgamma like_escape line ln localtime localtimestamp log log10 lower lower_inc
  lower_inf lpad lseg ltrim
  make_date make_interval make_time make_timestamp make_timestamptz masklen max md5 min min_scale mod mode multirange
  name netmask network normalize now npoints nth_value ntile nullif num_nonnulls num_nulls numeric nummultirange numnode
  numrange
  octet_length overlaps overlay
  parse_ident path pclose percent_rank percentile_cont percentile_disc phraseto_tsquery pi plainto_tsquery point polygon
  popen position pow power
  quote_ident quote_literal quote_nullable
  radians radius random range_agg range_intersect_agg range_merge rank regexp_count regexp_instr regexp_like regexp_match
  regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr regr_avgx regr_avgy regr_count
  regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy repeat replace reverse right round row_number row_to_json
  rpad rtrim
  scale set_bit set_byte set_masklen setweight sha224 sha256 sha384 sha512 sign similar_to_escape sin sind sinh slope
  split_part sqrt starts_with statement_timestamp stddev stddev_pop stddev_samp string_agg string_to_array string_to_table
  strip strpos substr substring sum
  tan tand tanh text time timeofday timestamp timestamptz timetz timezone to_ascii to_bin to_char to_date to_hex to_json
  to_jsonb to_number to_oct to_timestamp to_tsquery to_tsvector transaction_timestamp translate trim trim_array trim_scale
  trunc ts_delete ts_filter ts_headline ts_rank ts_rank_cd tsmultirange tsquery_phrase tsrange tstzmultirange tstzrange
  tsvector_to_array
  unistr unnest upper upper_inc upper_inf uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7
  var_pop var_samp varbit varchar variance websearch_to_tsquery width width_bucket
";

/// Functions that read the catalog, settings and sequences, or wait. They leave nothing in a session that another
/// statement could observe: `nextval` affects only `currval` and `lastval`, which are not listed.
const READING: &str = "
  col_description current_catalog current_database current_schema current_schemas current_setting format_type
  has_any_column_privilege has_column_privilege has_database_privilege has_function_privilege has_schema_privilege
  has_sequence_privilege has_table_privilege has_type_privilege nextval obj_description pg_advisory_xact_lock
  pg_advisory_xact_lock_shared pg_backend_pid pg_column_size pg_current_xact_id pg_database_size pg_get_constraintdef
  pg_get_expr pg_get_indexdef pg_get_serial_sequence pg_get_viewdef pg_has_role pg_indexes_size pg_is_in_recovery
  pg_postmaster_start_time pg_relation_size pg_size_pretty pg_sleep pg_table_is_visible pg_table_size
  pg_total_relation_size pg_try_advisory_xact_lock pg_try_advisory_xact_lock_shared pg_typeof setval shobj_description
  to_regclass to_regtype txid_current version
";

/// Types that a value may be cast to with `--tables`: their input reads only the text. Types such as `regclass`, whose
/// input resolves names, and `xml` are left out.
const TYPES: &str = "
  bit bool box bpchar bytea char cidr circle date datemultirange daterange float4 float8 inet int2 int4 int4multirange int4range
  int8 int8multirange int8range interval json jsonb jsonpath line lseg macaddr macaddr8 name numeric nummultirange numrange
  path point polygon text time timestamp timestamptz timetz tsmultirange tsquery tsrange tstzmultirange tstzrange tsvector
  uuid varbit varchar
";

type Names = LazyLock<HashSet<&'static str>>;

static COMPUTES: Names = LazyLock::new(|| COMPUTING.split_whitespace().collect());
static READS: Names = LazyLock::new(|| READING.split_whitespace().collect());
static IS_TYPE: Names = LazyLock::new(|| TYPES.split_whitespace().collect());

/// Reports whether the functions of this name in `pg_catalog` compute from their arguments only.
pub(super) fn computes(name: &str) -> bool {
    COMPUTES.contains(name)
}

/// Reports whether they read server data, and leave nothing in the session.
pub(super) fn reads(name: &str) -> bool {
    READS.contains(name)
}

/// Reports whether a value may be cast to this type of `pg_catalog`.
pub(super) fn is_type(name: &str) -> bool {
    IS_TYPE.contains(name)
}
