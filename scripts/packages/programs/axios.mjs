import axios from "axios";

export const peer = ({ method, path, headers }, body) => {
  if (path === "/missing") return { status: 404, body: "no" };
  return {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ method, path, kind: headers["content-type"], body }),
  };
};

export default async (url) => {
  const client = axios.create({ baseURL: url, adapter: "fetch" });
  const refused = await client.get("/missing").catch(({ code, response }) => [code, response.status]);
  return [(await client.post("/a", { x: "é" }, { params: { q: 1 } })).data, refused];
};
