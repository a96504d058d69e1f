/** The moments of one order, as date-times in UTC with whole seconds. */
export interface OrderTimes {
  readonly openedAt: string;
  readonly closedAt: string;
  /** A moment of the stay: 0 is the opening, 1 the closing. */
  at(share: number): string;
}

/** The shares of a stay at which things happen. Products are ordered in its first half. */
export const moment = {
  firstRound: 0,
  courses: 0.06,
  anotherRound: 0.3,
  desserts: 0.45,
  discount: 0.6,
  beforeBill: 0.65,
  split: 0.75,
  bill: 0.8,
  afterBill: 0.9,
  refusal: 0.905,
  payment: 0.95,
  end: 1,
} as const;

/** The moments of an order that is open between two instants (milliseconds). */
export function orderTimes(opened: number, closed: number): OrderTimes {
  const at = (share: number) => toDateTime(opened + (closed - opened) * share);
  return { openedAt: at(0), closedAt: at(1), at };
}

/** The date-time in UTC of an instant (milliseconds), cut to the second. */
export function toDateTime(instant: number): string {
  return new Date(Math.floor(instant / 1000) * 1000).toISOString();
}
