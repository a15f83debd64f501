import jwt from "jsonwebtoken";

export default async () => {
  const token = jwt.sign({ sub: "ada", iat: 1_700_000_000 }, "secret", { algorithm: "HS256" });
  const refused = (() => {
    try {
      return jwt.verify(token, "other");
    } catch ({ name, message }) {
      return [name, message];
    }
  })();
  return [token, jwt.verify(token, "secret"), refused, jwt.decode(token, { complete: true }).header];
};
