/** Something between answered in the place of the API, or the address is not the API's. */
export class UnexpectedReply extends Error {
  override name = "UnexpectedReply";
  readonly status: number;

  /** `call` is its method and address. */
  constructor(call: string, status: number, body: string) {
    super(`${call} answered ${status} with something that is not the API's: ${body.slice(0, 200) || "nothing"}`);
    this.status = status;
  }
}

/** What the call's `If-None-Match` names is still current: there is nothing new to read. */
export class NotModified extends Error {
  override name = "NotModified";

  /** `call` is its method and address. */
  constructor(call: string) {
    super(`${call} answered 304: it is as it was`);
  }
}

/** Nobody answered, also not when it was tried again. The cause is what `fetch` threw last. */
export class NoReply extends Error {
  override name = "NoReply";

  /** `call` is its method and address. */
  constructor(call: string, cause: unknown) {
    super(`${call} got no reply`, { cause });
  }
}
