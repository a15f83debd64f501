// vitest's own `expect`, with its inline snapshots of errors and plain values.
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  ChaiStyleAssertions,
  GLOBAL_EXPECT,
  getState,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from "@vitest/expect";
import * as chai from "chai";

chai.use(JestExtend);
chai.use(JestChaiExpect);
if (ChaiStyleAssertions) chai.use(ChaiStyleAssertions);
chai.use(JestAsymmetricMatchers);

export function expect(value, message) {
  setState({ assertionCalls: getState(expect).assertionCalls + 1 }, expect);
  return chai.expect(value, message);
}
Object.assign(expect, chai.expect, globalThis[ASYMMETRIC_MATCHERS_OBJECT]);
expect.getState = () => getState(expect);
expect.setState = (state) => setState(state, expect);
setState({ assertionCalls: 0, isExpectingAssertions: false, expectedAssertionsNumber: null }, expect);
globalThis[GLOBAL_EXPECT] = expect;

const plain = (text) => text.trim().replaceAll(/\n\s*/g, "\n");

function matchInline(actual, expected) {
  chai.expect(plain(actual)).to.equal(plain(expected));
}

chai.use(({ Assertion }, utils) => {
  utils.addMethod(Assertion.prototype, "toMatchInlineSnapshot", function (snapshot) {
    const value = utils.flag(this, "object");
    matchInline(typeof value === "string" ? JSON.stringify(value) : JSON.stringify(value, null, 2), snapshot);
  });
  utils.addMethod(Assertion.prototype, "toThrowErrorMatchingInlineSnapshot", function (snapshot) {
    let error = utils.flag(this, "object");
    if (utils.flag(this, "promise") === undefined) {
      try {
        error();
      } catch (thrown) {
        error = thrown;
      }
    }
    matchInline(`[${error.name}: ${error.message}]`, snapshot);
  });
});
