import { XMLBuilder, XMLParser, XMLValidator } from "fast-xml-parser";

const text = '<?xml version="1.0"?><a x="1"><b>é &amp; 2</b><b>3</b><c><![CDATA[<d>]]></c></a>';

export default () => {
  const parsed = new XMLParser({ ignoreAttributes: false }).parse(text);
  return [
    parsed,
    new XMLBuilder({ ignoreAttributes: false, format: true }).build(parsed),
    XMLValidator.validate("<a><b></a>"),
  ];
};
