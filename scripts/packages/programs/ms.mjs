import ms from "ms";

export default () => [ms("2 days"), ms("1.5h"), ms(90_000), ms(90_000, { long: true })];
