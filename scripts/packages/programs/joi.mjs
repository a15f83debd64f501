import Joi from "joi";

const user = Joi.object({
  name: Joi.string().min(2).required(),
  mail: Joi.string().email({ tlds: false }),
  id: Joi.string().guid(),
});

export default () => [
  user.validate({ name: "Ada", mail: "ada@example.org", id: "9f5a1fd4-3c4d-4a46-9d6c-0c7d8d2b5c11" }),
  user.validate({ name: "A", mail: "x" }, { abortEarly: false }).error.details.map(({ message }) => message),
];
