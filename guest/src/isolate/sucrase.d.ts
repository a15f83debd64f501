/** The modules of sucrase that have no declarations at the place of their code. */
declare module "sucrase/dist/esm/parser/index.js" {
  export * from "sucrase/dist/types/parser/index.js";
}
declare module "sucrase/dist/esm/parser/tokenizer/keywords.js" {
  export * from "sucrase/dist/types/parser/tokenizer/keywords.js";
}
declare module "sucrase/dist/esm/parser/tokenizer/types.js" {
  export * from "sucrase/dist/types/parser/tokenizer/types.js";
}
