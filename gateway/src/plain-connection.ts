import type { Socket } from "node:net";
import { serverOptions } from "@pragma/runtime/http-server";
import type { ClientReply } from "./client-side.ts";
import { PlainReply } from "./plain-reply.ts";
import { type PlainRequest, PlainRequestReader } from "./plain-request.ts";
import { takeBytes } from "./take-bytes.ts";

interface PlainConnectionOptions {
  onRequest(request: PlainRequest, reply: ClientReply): void;
  /** Takes over a connection that brought something else, which is still to be read from it. */
  handOn(socket: Socket): void;
}

/**
 * A client's connection for as long as it brings plain requests, one after the other: most that ever come are, and
 * with node:http one costs the gateway a fifth more. With the first bytes that are anything else, the connection is
 * node:http's for good.
 */
export class PlainConnection {
  readonly #socket: Socket;
  readonly #options: PlainConnectionOptions;
  readonly #requests: PlainRequestReader;
  readonly #stopTaking: () => void;
  #reply: PlainReply | undefined;
  /** What the client sent before it had its reply. */
  #ahead: Buffer[] = [];
  /** When it came about, or its last reply was sent. */
  #idleSince = performance.now();
  /** How long it may stay without asking anything, in milliseconds. */
  #patience = serverOptions.headersTimeout;

  constructor(socket: Socket, options: PlainConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#requests = new PlainRequestReader(socket);
    this.#stopTaking = takeBytes(socket, this.#read);
    socket.on("drain", this.#drain).on("end", this.#end).on("error", ignore).on("close", this.#close);
  }

  /** Whether a request is being answered. */
  get isBusy(): boolean {
    return this.#reply !== undefined;
  }

  closeIfUnused(): void {
    if (!this.isBusy && performance.now() - this.#idleSince > this.#patience) this.#socket.destroy();
  }

  readonly #read = (bytes: Buffer): void => {
    if (this.#reply) {
      this.#ahead.push(Buffer.from(bytes));
      this.#socket.pause();
      return;
    }
    const request = this.#requests.read(bytes);
    if (request) this.#answer(request);
    else this.#handOn(Buffer.from(bytes));
  };

  #answer(request: PlainRequest): void {
    this.#patience = serverOptions.keepAliveTimeout;
    this.#reply = new PlainReply(this.#socket, {
      isToHead: request.method === "HEAD",
      keptFor: serverOptions.keepAliveTimeout / 1000,
      onSent: () => this.#sent(),
    });
    this.#options.onRequest(request, this.#reply);
  }

  #sent(): void {
    const isLast = this.#reply?.isLast;
    this.#reply = undefined;
    this.#idleSince = performance.now();
    if (isLast) this.#socket.destroySoon();
    else if (this.#ahead.length > 0) this.#handOn(Buffer.concat(this.#ahead));
  }

  #handOn(bytes: Buffer): void {
    const socket = this.#socket;
    this.#stopTaking();
    socket.off("drain", this.#drain).off("end", this.#end).off("error", ignore).off("close", this.#close);
    socket.unshift(bytes);
    this.#options.handOn(socket);
    socket.resume();
  }

  readonly #drain = (): void => void this.#reply?.emit("drain");

  readonly #end = (): void => void this.#socket.end();

  readonly #close = (): void => this.#reply?.close();
}

/** What closes after it, is told of that. */
function ignore(): void {}
