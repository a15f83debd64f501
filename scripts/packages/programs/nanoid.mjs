import { customAlphabet, nanoid } from "nanoid";

export default () => {
  const ids = Array.from({ length: 100 }, () => nanoid());
  return [
    new Set(ids).size,
    ids.every((id) => /^[\w-]{21}$/.test(id)),
    /^[abc]{10}$/.test(customAlphabet("abc", 10)()),
  ];
};
