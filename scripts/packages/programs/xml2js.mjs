import xml2js from "xml2js";

export default async () => {
  const parsed = await xml2js.parseStringPromise('<a x="1"><b>é &amp; 2</b><b>3</b><c><![CDATA[<d>]]></c></a>', {
    explicitArray: false,
  });
  return [
    parsed,
    new xml2js.Builder({ headless: true }).buildObject(parsed),
    await xml2js.parseStringPromise("<a><b></a>").catch(({ message }) => message),
  ];
};
