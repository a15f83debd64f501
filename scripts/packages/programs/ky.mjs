import ky from "ky";

export const peer = ({ method, path, headers }, body) => {
  if (path.startsWith("/missing")) return { status: 404, body: "no" };
  return {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ method, path, kind: headers["content-type"], body }),
  };
};

export default async (url) => {
  const client = ky.create({ prefix: url, retry: 0 });
  const status = await client.get("missing").catch((error) => [error.name, error.response.status]);
  return [await client.post("a", { json: { x: "é" }, searchParams: { q: 1 } }).json(), status];
};
