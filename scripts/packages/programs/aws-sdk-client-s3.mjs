import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";

export const peer = ({ method, path, headers }, body) => {
  if (method === "PUT") return { headers: { etag: '"e"' }, body: "" };
  if (path.includes("list-type=2")) {
    const list =
      "<ListBucketResult><Name>b</Name><KeyCount>1</KeyCount><Contents><Key>k é</Key><Size>3</Size></Contents></ListBucketResult>";
    return { headers: { "content-type": "application/xml" }, body: list };
  }
  return { body: `${path.split("?")[0]} ${/^AWS4-HMAC-SHA256 Credential=id\//.test(headers.authorization)}${body}` };
};

export default async (url) => {
  const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
  const client = new S3Client({ region: "eu-west-1", endpoint: url, forcePathStyle: true, credentials });
  const put = await client.send(new PutObjectCommand({ Bucket: "b", Key: "k", Body: "abc" }));
  const list = await client.send(new ListObjectsV2Command({ Bucket: "b" }));
  const got = await client.send(new GetObjectCommand({ Bucket: "b", Key: "k" }));
  return [put.ETag, list.Contents, await got.Body.transformToString()];
};
