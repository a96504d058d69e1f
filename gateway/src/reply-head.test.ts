import { describe, expect, it } from "vitest";
import { parseReplyHead } from "./reply-head.ts";

const head = (...lines: string[]) => parseReplyHead(["HTTP/1.1 200 OK", ...lines, ""].join("\r\n"));

describe("the head of a service's reply", () => {
  it("goes to the client as it came, without what is between the gateway and the service", () => {
    const { lines } = head(
      "Keep-Alive: timeout=5",
      'ETag:  W/"a:b" ',
      "Connection: keep-alive",
      "TRANSFER-ENCODING: chunked",
      "x-connection: kept",
      "link: <https://shop.test/a?connection:x>",
      "X-Request-Id: the service's",
      "vary:",
      "trailer: x",
    );
    expect(lines).toBe(
      'ETag:  W/"a:b" \r\nx-connection: kept\r\nlink: <https://shop.test/a?connection:x>\r\nvary:\r\n',
    );
  });

  it("may have no headers", () => {
    expect(head()).toMatchObject({ status: 200, lines: "", length: undefined, isLast: false });
  });

  it.each([
    ["is of its own date", "DATE: Sun, 22 Nov 2026 08:00:00 GMT", { isDated: true }],
    ["goes on for as long as it likes", "Content-Type: text/event-stream; charset=utf-8", { isStream: true }],
    ["is of another type", "content-type: text/event-streams", { isStream: false }],
    ["has a length", "Content-Length:5", { length: 5, isChunked: false }],
    ["comes in chunks", "transfer-encoding: Chunked", { length: undefined, isChunked: true }],
    ["is the last", "connection: x, Close", { isLast: true }],
    ["is not the last", "connection: closed", { isLast: false }],
  ])("tells that it %s", (_, line, said) => {
    expect(head(line)).toMatchObject(said);
  });

  it("has each line to itself, however long it is", () => {
    const long = `x: ${" ".repeat(60_000)}y`;
    expect(head(long, "content-length: 1").lines).toBe(`${long}\r\ncontent-length: 1\r\n`);
  });
});
