import bcrypt from "bcryptjs";

export default async () => {
  const hash = await bcrypt.hash("secret", 4);
  return [
    hash.length,
    await bcrypt.compare("secret", hash),
    bcrypt.compareSync("other", hash),
    bcrypt.hashSync("a", "$2b$04$abcdefghijklmnopqrstuu"),
  ];
};
