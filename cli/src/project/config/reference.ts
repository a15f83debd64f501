import { type Key, type OpenSection, type Section, type TableSection, variableOf } from "./key.ts";
import { sections } from "./keys.ts";

/** `docs/configuration.md`: every section and key, from the table that the parser uses. */
export function configurationReference(): string {
  const parts = Object.entries<Section | OpenSection | TableSection>(sections).map(([name, section]) => {
    if ("keys" in section) return knownSection(name, section);
    return "each" in section ? tableSection(name, section) : openSection(name, section);
  });
  return `${head}\n${parts.join("\n")}`;
}

const head = `<!-- Generated from cli/src/project/config/keys.ts by \`npm run generate -w tenon\`; a test checks that it is current. -->

# tenon.toml

A folder with a \`tenon.toml\` is a project. An unknown key, a value of the wrong type, and a value out of range are errors. Each names the line
and the column. The error for an unknown key also names the nearest one.

\`\`\`toml
#:schema ./node_modules/tenon/tenon.schema.json
[project]
name = "demo"

[server]
port = 3000

[sidecars]
db = "unix:///run/db.sock"
\`\`\`

The first line is for editors (Even Better TOML, Taplo). They complete and check the file with the package's JSON Schema.

An option of the command (\`--port\`) wins over an environment variable (\`TENON_SERVER_PORT\`), a variable over the file, and the file over the
default. The variable of a key is \`TENON_\`, the section, \`_\` and the key, all in capitals. Commas separate the elements of a list. A variable
that begins like a section's and names no key of it is an error, too. The [glossary](glossary.md) defines the terms.
`;

function knownSection(name: string, { docs, keys }: Section): string {
  const parts = Object.entries(keys).map(([key, definition]) => {
    const variable = `\`${variableOf(name, key)}\``;
    return `### \`${key}\`\n\n${capitalized(definition.docs)}\n\n${facts(definition)} Environment: ${variable}.\n`;
  });
  return `## \`[${name}]\`\n\n${docs}\n\n${parts.join("\n")}`;
}

function openSection(name: string, { docs, names, values }: OpenSection): string {
  const variable = `\`${variableOf(name, "")}<NAME>\``;
  const key = `### \`<${names.placeholder}>\``;
  const rule = `The name: ${names.description}.`;
  return `## \`[${name}]\`\n\n${docs}\n\n${key}\n\n${values.docs} ${rule}\n\n${facts(values)} Environment: ${variable}.\n`;
}

function tableSection(name: string, { docs, names, each, within = {} }: TableSection): string {
  const parts = Object.entries(each).map(
    ([key, definition]) => `### \`${key}\`\n\n${capitalized(definition.docs)}\n\n${facts(definition)}\n`,
  );
  const rule = `The name: ${names.description}.`;
  const table = `${name}.<${names.placeholder}>`;
  const sections = Object.entries(within).map(([key, section]) => {
    const inner = "keys" in section ? knownKeys(section) : openKey(section);
    return `### \`[${table}.${key}]\`\n\n${section.docs}\n\n${inner}`;
  });
  return `## \`[${table}]\`\n\n${docs} ${rule}\n\n${[...parts, ...sections].join("\n")}`;
}

/** The keys of a section in a table. No variable of the environment stands for them. */
function knownKeys({ keys }: Section): string {
  return Object.entries(keys)
    .map(([key, definition]) => `\`${key}\`: ${definition.docs} ${facts(definition)}\n`)
    .join("\n");
}

function openKey({ names, values }: OpenSection): string {
  return `\`<${names.placeholder}>\`: ${values.docs} The name: ${names.description}. ${facts(values)}\n`;
}

function facts({ kind, presence, ...key }: Key<unknown>): string {
  const type = `Value: ${kind.description.replaceAll(/"([^"]*)"/g, '`"$1"`')}.`;
  if (presence === "required") return `${type} Required.`;
  return presence === "default" ? `${type} Default: \`${kind.show(key.default)}\`.` : type;
}

function capitalized(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
