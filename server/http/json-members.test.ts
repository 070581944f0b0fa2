import fc from "fast-check";
import { expect, test } from "vitest";
import { repeatsMember } from "./json-members.ts";

// Guarantee: a member that is named twice is found however it is written and wherever it is, and nothing else is taken for one.
test.for([
  ['{"value":"1250","value":"125000"}', true],
  ['{"value" : 1, "a":{}, "value"\n:2}', true],
  ['{"a":1,"\\u0061":2}', true],
  ['{"\\\\":1,"\\u005c":2}', true],
  ['{"\\"":1,"\\u0022":2}', true],
  ['[{"b":{"a":1,"a":1}}]', true],
  ['{"a":{"b":1},"c":{"b":2},"b":[{"b":1},{"b":1}]}', false],
  ['{"a":"a","b":"a\\":","c":["a","a"]}', false],
  ['{"a":"{\\"a\\":1,\\"a\\":1}"}', false],
  ['{"a":1,"A":1,"a ":1,"":1}', false],
  ['["a","a"]', false],
  ['"a"', false],
  ["{}", false],
] as const)("%s", ([json, repeats]) => {
  JSON.parse(json);
  expect(repeatsMember(json)).toBe(repeats);
});

// Guarantee: no body that a JSON writer makes is refused, and a member put in twice always is.
test("any JSON", () => {
  fc.assert(
    fc.property(fc.json(), fc.string(), (json, name) => {
      expect(repeatsMember(json)).toBe(false);
      const key = JSON.stringify(name);
      expect(repeatsMember(`[0,{${key}:${json},${key}:${json}}]`)).toBe(true);
    }),
  );
});
