import { isEventStream, notForClients, passesToClient } from "./forwarded-headers.ts";

/** The head of a service's reply: what it says of where the reply ends, and what of it goes to the client. */
export interface ReplyHead {
  status: number;
  /** The header lines for the client, as they came, each with its end. */
  lines: string;
  /** The body's bytes, when it is said beforehand how many they are. */
  length: number | undefined;
  isChunked: boolean;
  /** Whether the connection ends with this reply. */
  isLast: boolean;
  isDated: boolean;
  /** Whether the reply goes on for as long as it likes. */
  isStream: boolean;
}

/** Every header line has a name, and nothing in it that could end it early. */
const shape = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n]*)?\r\n(?:[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;
/** The header lines that are read; all others go on as they are. */
const telling = new RegExp(
  `^(${[...notForClients, "content-length", "content-type", "date"].join("|")}):(.*)\r\n`,
  "gim",
);

/**
 * Reads the head of a reply, every line of which ends with CR LF.
 *
 * @throws Error when it is none, or does not say clearly where the reply ends.
 */
export function parseReplyHead(text: string): ReplyHead {
  const [, minor, status] = shape.exec(text) ?? [];
  if (status === undefined) throw new Error("The service's reply does not begin as one in HTTP/1.");
  const head: ReplyHead = {
    status: Number(status),
    lines: "",
    length: undefined,
    isChunked: false,
    isLast: minor === "0",
    isDated: false,
    isStream: false,
  };
  let from = text.indexOf("\r\n") + 2;
  telling.lastIndex = from;
  for (let line = telling.exec(text); line; line = telling.exec(text)) {
    const name = (line[1] as string).toLowerCase();
    readHeader(head, name, (line[2] as string).trim());
    if (!passesToClient(name)) {
      head.lines += text.slice(from, line.index);
      from = telling.lastIndex;
    }
  }
  head.lines += text.slice(from);
  return head;
}

function readHeader(head: ReplyHead, name: string, value: string): void {
  switch (name) {
    case "content-length":
      refuseSecondExtent(head);
      if (!/^\d{1,15}$/.test(value)) throw new Error("The service's reply does not say how long it is.");
      head.length = Number(value);
      break;
    case "transfer-encoding":
      refuseSecondExtent(head);
      if (value.toLowerCase() !== "chunked") throw new Error(`The service's reply is encoded as ${value}.`);
      head.isChunked = true;
      break;
    case "connection":
      head.isLast ||= /(?:^|[\s,])close(?:$|[\s,])/i.test(value);
      break;
    case "content-type":
      head.isStream = isEventStream(value);
      break;
    case "date":
      head.isDated = true;
  }
}

function refuseSecondExtent({ length, isChunked }: ReplyHead): void {
  if (isChunked || length !== undefined) throw new Error("The service's reply says twice how long it is.");
}
