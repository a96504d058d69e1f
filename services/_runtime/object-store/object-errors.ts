/** There is no object under this key. */
export class ObjectNotFound extends Error {
  override readonly name = "ObjectNotFound";
  readonly key: string;

  constructor(key: string) {
    super(`no object ${key}`);
    this.key = key;
  }
}

/** The store cannot be used now (network, a server's 5xx, a full or failing disk, refused credentials); the same call may succeed later. `cause` says what failed. */
export class ObjectStoreUnavailable extends Error {
  override readonly name = "ObjectStoreUnavailable";

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}
