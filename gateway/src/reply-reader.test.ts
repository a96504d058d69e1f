import { describe, expect, it } from "vitest";
import { type ReplyListener, ReplyReader } from "./reply-reader.ts";

interface Heard {
  status: number | undefined;
  lines: string;
  length: number | undefined;
  body: string;
  ends: number;
}

/** Reads a reply that comes in pieces; what the listener heard, and whether the connection can be used again. */
function read(pieces: (string | Buffer)[], { isToHead = false, isEnd = false } = {}): Heard & { isReusable: boolean } {
  const heard: Heard = { status: undefined, lines: "", length: undefined, body: "", ends: 0 };
  const listener: ReplyListener = {
    onHead: ({ status, lines, length }) => Object.assign(heard, { status, lines, length }),
    onBody(part) {
      heard.body += part.toString("latin1");
    },
    onEnd() {
      heard.ends += 1;
    },
  };
  const reader = new ReplyReader();
  reader.expectReply(isToHead, listener);
  for (const piece of pieces) reader.read(Buffer.from(piece));
  if (isEnd) reader.readEnd();
  return { ...heard, isReusable: reader.isReusable };
}

const counted = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Empty:\r\nContent-Length: 5\r\n\r\nhello";
const chunked =
  "HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nx-trailer: 1\r\n\r\n";

describe("a reply", () => {
  it("with a length ends with its last byte", () => {
    expect(read([counted])).toEqual({
      status: 200,
      lines: "Content-Type: text/plain\r\nX-Empty:\r\nContent-Length: 5\r\n",
      length: 5,
      body: "hello",
      ends: 1,
      isReusable: true,
    });
  });

  it("in chunks ends with the last of them", () => {
    expect(read([chunked])).toMatchObject({ status: 201, length: undefined, body: "hello world", ends: 1 });
  });

  it.each([counted, chunked])("is the same however it is cut", (text) => {
    const whole = read([text]);
    for (let at = 1; at < text.length; at++) {
      expect(read([text.slice(0, at), text.slice(at)])).toEqual(whole);
    }
    expect(read([...text])).toEqual(whole);
  });

  it.each([204, 304])("of status %i has no body", (status) => {
    expect(read([`HTTP/1.1 ${status} X\r\ncontent-length: 5\r\n\r\n`])).toMatchObject({ body: "", ends: 1 });
  });

  it("to HEAD has no body whatever it says", () => {
    expect(read(["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"], { isToHead: true })).toMatchObject({
      length: 5,
      ends: 1,
      isReusable: true,
    });
  });

  it("may come after others that are not the last word", () => {
    expect(read(["HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n", counted])).toMatchObject({ status: 200, ends: 1 });
  });

  it("without a length ends with its connection", () => {
    const text = "HTTP/1.0 200 OK\r\n\r\nall of it";
    expect(read([text])).toMatchObject({ body: "all of it", ends: 0, isReusable: false });
    expect(read([text], { isEnd: true })).toMatchObject({ body: "all of it", ends: 1, isReusable: false });
  });

  it("that is not whole does not end with its connection", () => {
    for (const text of [counted, chunked]) {
      expect(read([text.slice(0, -3)], { isEnd: true })).toMatchObject({ ends: 0, isReusable: false });
    }
  });

  it.each(["HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n", "HTTP/1.0 204 X\r\n\r\n"])(
    "may be the last of its connection",
    (text) => {
      expect(read([text])).toMatchObject({ ends: 1, isReusable: false });
    },
  );

  it.each([
    ["that is no HTTP", "SSH-2.0-x\r\n\r\n"],
    ["of a status that is none", "HTTP/1.1 99 X\r\n\r\n"],
    ["with a header without a name", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n"],
    ["with two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n"],
    ["with a length and in chunks", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n"],
    ["with half a line's end in a header", "HTTP/1.1 200 OK\r\nx: 1\ry: 2\r\n\r\n"],
    ["with a length that is none", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n"],
    ["in another encoding", "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n"],
    ["with a chunk without a size", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n"],
    ["with a chunk that is too long", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n"],
    ["in another protocol", "HTTP/1.1 101 Switching\r\n\r\n"],
    ["with something after it", `${counted}more`],
    ["with a head without an end", `HTTP/1.1 200 OK\r\nx: ${"x".repeat(70_000)}`],
  ])("%s is refused", (_, text) => {
    expect(() => read([text])).toThrow();
  });

  it("with a head that never ends is refused, however slowly it comes", () => {
    expect(() => read(["HTTP/1.1 200 OK\r\nx: ", ...Array<string>(80).fill("x".repeat(1_000))])).toThrow("too large");
  });

  it("to nothing that was asked is refused", () => {
    expect(() => new ReplyReader().read(Buffer.from(counted))).toThrow("more than it was asked");
  });
});
