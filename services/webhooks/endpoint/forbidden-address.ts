/**
 * No connection was made: the host has an address that endpoints may not have, or no address is known of it. The message
 * is the same for both, since it is shown to clients, who would learn from it which internal names there are.
 */
export class ForbiddenAddress extends Error {
  readonly code = "FORBIDDEN_ADDRESS";

  constructor(options?: ErrorOptions) {
    super("The endpoint cannot be sent to: its host has no public address, or cannot be looked up.", options);
    this.name = "ForbiddenAddress";
  }
}
