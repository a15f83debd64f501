import slugify from "slugify";

export default () => [
  slugify("Crème Brûlée & Ångström!", { lower: true, strict: true }),
  slugify("Ünïcödé ♥ Łódź", "_"),
];
