import * as yup from "yup";

const user = yup.object({
  name: yup.string().required().min(2),
  age: yup.number().positive().integer(),
  at: yup.date(),
});

export default async () => [
  await user.validate({ name: "Ada", age: "36", at: "2020-01-02T03:04:05Z" }),
  await user.validate({ name: "A", age: -1 }, { abortEarly: false }).catch(({ errors }) => errors),
];
