import { expect, test } from "vitest";
import {
  createAnswerReader,
  createRequestWriter,
  type RawAnswer,
  requestText,
} from "./raw-http.ts";

// Guarantee: answers are told apart by their announced length, in bytes, however the stream is cut.
test("a stream is split into its answers", () => {
  const bytes = Buffer.from(
    'HTTP/1.1 201 Created\r\nContent-Length: 9\r\nX: y\r\n\r\n{"a":"é"}HTTP/1.1 204 No Content\r\ncontent-length:0\r\n\r\n'.replace(
      "Length: 9",
      "Length: 10",
    ),
  );
  for (const step of [1, 5, bytes.length]) {
    const heard: RawAnswer[] = [];
    const read = createAnswerReader((answer) => heard.push(answer));
    for (let at = 0; at < bytes.length; at += step) read(bytes.subarray(at, at + step));
    expect(heard).toEqual([
      { status: 201, body: '{"a":"é"}' },
      { status: 204, body: "" },
    ]);
  }
});

// Guarantee: an answer that does not say where it ends is refused, not guessed at.
test("an answer without a length is an error", () => {
  const read = createAnswerReader(() => undefined);
  expect(() => read(Buffer.from("HTTP/1.1 200 OK\r\n\r\n{}"))).toThrow("without a length");
});

// Guarantee: every request takes the next value of each place and its own number, and nothing else of the text is touched.
test("templates are filled in turn", () => {
  const text = requestText("POST", "/{id}", { Key: "k-{n}" }, '{"of":"{account}","empty":{}}', 27);
  const write = createRequestWriter({ text, values: { id: ["a", "b"], account: ["x", "y", "z"] } });
  const lines = write(4).split("\r\n");
  expect(lines).toEqual([
    "POST /a HTTP/1.1",
    "Host: 127.0.0.1",
    "Key: k-4",
    "Content-Type: application/json",
    "Content-Length: 27",
    "",
    '{"of":"y","empty":{}}',
  ]);
  expect(() => createRequestWriter({ text, values: {} })).toThrow("no value for {id}");
});
