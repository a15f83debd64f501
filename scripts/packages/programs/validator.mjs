import validator from "validator";

export default () => [
  validator.isEmail("ada@example.org"),
  validator.isURL("https://example.org/a?b=c"),
  validator.isIBAN("DE89370400440532013000"),
  validator.isAlpha("é", "fr-FR"),
  validator.escape("<b>"),
  validator.isStrongPassword("aA1!aaaa"),
];
