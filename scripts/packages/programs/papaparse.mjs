import Papa from "papaparse";

export default () => [
  Papa.parse('a;b\n1;"x;""y"""\n', { header: true, dynamicTyping: true, skipEmptyLines: true }),
  Papa.unparse([{ a: 1, b: 'x,"y"' }]),
];
