// Packages of the table, by the purpose for which handlers use them. A program's file has the package's name, without
// `@` and with `-` for `/`.
export const packages = {
  Validation: ["zod", "valibot", "yup", "joi", "ajv", "superstruct", "@sinclair/typebox", "arktype", "validator"],
  Dates: ["dayjs", "date-fns", "luxon", "cron-parser", "ms", "moment"],
  Identifiers: ["nanoid", "uuid", "ulid", "@paralleldrive/cuid2"],
  "Markdown and HTML": ["marked", "markdown-it", "sanitize-html", "cheerio", "he"],
  Templates: ["handlebars", "mustache", "eta", "ejs", "liquidjs", "react-dom", "preact-render-to-string"],
  "Tokens and cryptography": [
    "jsonwebtoken",
    "jose",
    "bcryptjs",
    "@noble/hashes",
    "@noble/curves",
    "tweetnacl",
    "crypto-js",
  ],
  "CSV, XML, YAML, TOML": [
    "papaparse",
    "csv-parse",
    "csv-stringify",
    "fast-xml-parser",
    "xml2js",
    "js-yaml",
    "yaml",
    "smol-toml",
  ],
  "GraphQL and languages": ["graphql", "i18next", "slugify"],
  Clients: ["@aws-sdk/client-s3", "stripe", "ky", "axios"],
  "Everything else": ["lodash", "immer", "rxjs", "qs", "path-to-regexp", "lru-cache", "pino"],
};
