/** A connection was refused before it was made, because the address is not one for endpoints. */
export class ForbiddenAddress extends Error {
  readonly code = "FORBIDDEN_ADDRESS";

  constructor(host: string, address: string) {
    super(
      host === address
        ? `${address} is not a public address, and is not allowed here.`
        : `${host} is at ${address}, which is not a public address, and is not allowed here.`,
    );
    this.name = "ForbiddenAddress";
  }
}
