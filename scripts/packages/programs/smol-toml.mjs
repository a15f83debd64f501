import { parse, stringify } from "smol-toml";

export default () => {
  const parsed = parse('title = "é"\nat = 2024-02-29T12:00:00Z\n[server]\nports = [80, 443]\n[[user]]\nname = "Ada"\n');
  return [parsed, stringify(parsed)];
};
