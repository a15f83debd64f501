import Ajv from "ajv";

const schema = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2 },
    tags: { type: "array", items: { type: "string" }, uniqueItems: true },
  },
  required: ["name"],
  additionalProperties: false,
};
const validate = new Ajv({ allErrors: true }).compile(schema);

export default () => [
  validate({ name: "Ada", tags: ["a"] }),
  validate({ name: "A", tags: ["a", "a"], x: 1 }),
  validate.errors,
];
