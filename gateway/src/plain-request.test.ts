import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { PlainRequestReader } from "./plain-request.ts";

const socket = {} as Socket;
const read = (text: string) => new PlainRequestReader(socket).read(Buffer.from(text, "latin1"));
const withHeader = (line: string) => `GET / HTTP/1.1\r\nhost: a\r\n${line}\r\n\r\n`;

describe("a plain request", () => {
  it("is read with its headers as they were sent, and by their names in small letters", () => {
    const request = read("GET /v1/orders/?size=10 HTTP/1.1\r\nHost: api.test\r\nAccept:*/*\r\nX-Empty: \t\r\n\r\n");
    expect(request).toMatchObject({
      method: "GET",
      url: "/v1/orders/?size=10",
      rawHeaders: ["Host", "api.test", "Accept", "*/*", "X-Empty", ""],
      complete: true,
    });
    expect({ ...request?.headers }).toEqual({ host: "api.test", accept: "*/*", "x-empty": "" });
  });

  it.each([
    ["HEAD", "HEAD / HTTP/1.1\r\nhost: a\r\n\r\n"],
    ["a connection that is kept", withHeader("Connection: Keep-Alive")],
    ["a header named like what every object has", withHeader("__proto__: x")],
  ])("may be %s", (_, text) => {
    expect(read(text)).toBeDefined();
  });

  it.each([
    ["nothing", ""],
    ["half a head", "GET / HTTP/1.1\r\nhost: a\r\n"],
    ["another method", "POST / HTTP/1.1\r\nhost: a\r\n\r\n"],
    ["a method in small letters", "get / HTTP/1.1\r\nhost: a\r\n\r\n"],
    ["another version", "GET / HTTP/1.0\r\nhost: a\r\n\r\n"],
    ["an address with a scheme", "GET http://a/ HTTP/1.1\r\nhost: a\r\n\r\n"],
    ["an address that is no path", "GET * HTTP/1.1\r\nhost: a\r\n\r\n"],
    ["an address of more than ASCII", "GET /\u00e9 HTTP/1.1\r\nhost: a\r\n\r\n"],
    ["two spaces before the address", "GET  / HTTP/1.1\r\nhost: a\r\n\r\n"],
    ["something before it", "\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n"],
    ["something behind it", "GET / HTTP/1.1\r\nhost: a\r\n\r\nx"],
    ["another request behind it", "GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n"],
    ["no headers", "GET / HTTP/1.1\r\n\r\n"],
    ["no host", "GET / HTTP/1.1\r\naccept: */*\r\n\r\n"],
    ["two hosts", withHeader("Host: b")],
    ["a header twice", withHeader("x-a: 1\r\nX-A: 2")],
    ["the length of a body", withHeader("content-length: 0")],
    ["an encoding of a body", withHeader("Transfer-Encoding: chunked")],
    ["a wish to be told to send", withHeader("expect: 100-continue")],
    ["a wish for another protocol", withHeader("upgrade: websocket")],
    ["a word about the connection", withHeader("connection: close")],
    ["headers of this connection only", withHeader("connection: keep-alive, x-a")],
    ["a space before the colon", withHeader("x-a : 1")],
    ["a line that goes on with the next", withHeader("x-a: 1\r\n 2")],
    ["a line without a colon", withHeader("x-a")],
    ["a name that is none", withHeader("x(a): 1")],
    ["a header without a name", withHeader(": 1")],
    ["a line feed alone", withHeader("x-a: 1\nx-b: 2")],
    ["a carriage return alone", withHeader("x-a: 1\rx-b: 2")],
    ["a zero byte", withHeader("x-a: \0")],
    ["a value of more than ASCII", withHeader("x-a: \u00e9")],
    ["a very long header", withHeader(`x-a: ${"a".repeat(8 * 1024)}`)],
  ])("is none with %s", (_, text) => {
    expect(read(text)).toBeUndefined();
  });

  it("has what was made of its headers before only when they are the very same", () => {
    const reader = new PlainRequestReader(socket);
    const next = (path: string, key: string) =>
      reader.read(Buffer.from(`GET ${path} HTTP/1.1\r\nhost: a\r\nauthorization: ${key}\r\n\r\n`));
    const first = next("/1", "one");
    const second = next("/2", "one");
    const third = next("/2", "two");
    expect(second?.url).toBe("/2");
    expect(second?.memo).toBe(first?.memo);
    expect(third?.memo).not.toBe(first?.memo);
    expect(third?.headers.authorization).toBe("two");
  });
});
