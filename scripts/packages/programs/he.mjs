import * as he from "he";

export default () => [
  he.encode("<é ☃ 𝌆>"),
  he.encode("é", { useNamedReferences: true }),
  he.decode("&eacute;&#x1D306;&notin;"),
];
