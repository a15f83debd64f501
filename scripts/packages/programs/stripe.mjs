import Stripe from "stripe";

export const peer = ({ method, path, headers }, body) => ({
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ id: "cus_1", object: "customer", method, path, key: headers.authorization, body }),
});

export default async (url) => {
  const { hostname, port, protocol } = new URL(url);
  const stripe = new Stripe("sk_test_1", {
    host: hostname,
    port: port || 80,
    protocol: protocol.slice(0, -1),
    httpClient: Stripe.createFetchHttpClient(),
    maxNetworkRetries: 0,
    telemetry: false,
  });
  const { id, method, path, key, body } = await stripe.customers.create({
    email: "ada@example.org",
    metadata: { a: "é" },
  });
  const payload = '{"id":"evt_1","object":"event"}';
  const crypto = Stripe.createSubtleCryptoProvider();
  const header = await stripe.webhooks.generateTestHeaderStringAsync({
    payload,
    secret: "whsec_1",
    cryptoProvider: crypto,
  });
  return [
    id,
    method,
    path,
    key,
    body,
    (await stripe.webhooks.constructEventAsync(payload, header, "whsec_1", undefined, crypto)).id,
  ];
};
