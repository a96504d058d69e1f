import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { ClientOrigin } from "./caller.ts";

/** A request's head, whichever way it came in: node:http's `IncomingMessage` is one, and so is a `PlainRequest`. */
export interface ClientRequest {
  readonly method?: string | undefined;
  /** The target of the request line, as it was sent. */
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Name, value, name, value, as they were sent. */
  readonly rawHeaders: string[];
  readonly socket: Socket;
  /** Whether all of it has come in, its body too. */
  readonly complete: boolean;
  /** What was made of the very same headers before, for this request to use and to add to. */
  readonly memo?: HeadersMemo;
}

/** What follows from a request's headers alone, kept for the next request of a connection that has the same ones. */
export interface HeadersMemo {
  /** The hash of its API key. */
  keyHash?: string;
  /** The lines that go on to a service. */
  passedOn?: string;
  origin?: ClientOrigin;
}

/** What a reply's header lines say. */
export interface LineFacts {
  /** Whether they say how long the body is. */
  isCounted: boolean;
  isDated: boolean;
  /** Whether they say that the connection ends with this reply. */
  isLast: boolean;
}

/** What a reply is sent with: node:http's `ServerResponse` is one, and so is a `PlainReply`. */
export interface ClientReply {
  readonly statusCode: number;
  readonly headersSent: boolean;
  /** Whether it is over: sent, or given up. */
  readonly destroyed: boolean;
  /** Whether all of it was handed to the network. */
  readonly writableFinished: boolean;
  readonly socket: Socket | null;
  /** Headers are name, value, name, value. Nothing is sent before the first of the body, `end` or `flushHeaders`. */
  writeHead(status: number, headers: string[]): unknown;
  /** The same for headers that are lines already, where that saves taking them apart. */
  writeHeadLines?(status: number, lines: string, facts: LineFacts): void;
  flushHeaders(): void;
  /** @returns false when the client is slow and `drain` will say when it can take more. */
  write(part: Uint8Array | string, written?: () => void): boolean;
  end(last?: Uint8Array | string): unknown;
  writeContinue(): void;
  /** Closes the connection, whatever has been sent. */
  destroy(): unknown;
  on(event: "close" | "drain", listener: () => void): this;
  once(event: "close" | "drain", listener: () => void): this;
  off(event: "close" | "drain", listener: () => void): this;
  /** Calls back when nothing was sent for so many milliseconds. */
  setTimeout(milliseconds: number, idle: () => void): unknown;
}
