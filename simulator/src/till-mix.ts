/**
 * How much of a till is out of the ordinary. Each weight is the share of the orders that could show the case and do,
 * 0 to 1. A share is met to the order, not by chance: of 300 orders, 0.02 makes six. Shares of whole orders (canceled to
 * training) are of all orders; where they add up to more than all, the later ones get what is left.
 */
export interface TillMix {
  /** Orders fetched at the counter. */
  takeout: number;
  /** Orders of a delivery platform, among those not fetched at the counter. */
  delivery: number;
  /** Orders taken in a room without counting the guests. */
  noGuests: number;
  /** Orders taken by a clerk who was not on shift. */
  offShift: number;

  /** Canceled as a whole: without a bill, before it, after it, and after it was paid. */
  canceledOrder: number;
  /** Moved to a hotel's system as a whole. */
  transferredOrder: number;
  /** Nothing but returns: a negative total, left open or paid back. */
  refundOrder: number;
  /** Everything given away: a total of zero, closed by hand. */
  giftedOrder: number;
  /** Made in school mode. */
  trainingOrder: number;

  /** Orders with one to three set menus. */
  menu: number;
  /** A product with choices, free and paid ones. */
  modifier: number;
  /** A product sold by weight. */
  weight: number;
  /** A product split over several bills. */
  splitRow: number;
  /** A set menu split over several bills. */
  splitMenu: number;
  /** A discount on one product. */
  discount: number;
  /** A discount over every product of the order. */
  groupDiscount: number;
  /** A discount that is pending or was cancelled. */
  unsettledDiscount: number;
  /** A product given away. */
  gift: number;
  /** A product canceled: without a bill, before it, after it. */
  canceledRow: number;
  /** A set menu of which one product, or every product, was canceled. */
  canceledMenu: number;
  /** A product moved to another table. */
  transferredRow: number;
  /** A product lost, alone or in a menu. */
  loss: number;
  /** A product taken back. */
  refundRow: number;
  /** Two tables put together. */
  mergedOrder: number;

  /** Paid in two to four parts. */
  partPayments: number;
  /** Paid in cash, with change. */
  change: number;
  /** With a tip, as part of a payment or as a row of its own. */
  tip: number;
  /** Put on an account, as a debt, or settled by a deposit. */
  account: number;
  /** With a payment that is pending or was cancelled. */
  unsettledPayment: number;
}

const ordinaryMix: TillMix = {
  takeout: 0.15,
  delivery: 0.08,
  noGuests: 0.06,
  offShift: 0.02,
  canceledOrder: 0.03,
  transferredOrder: 0.02,
  refundOrder: 0.01,
  giftedOrder: 0.01,
  trainingOrder: 0.01,
  menu: 0.2,
  modifier: 0.3,
  weight: 0.08,
  splitRow: 0.03,
  splitMenu: 0.02,
  discount: 0.05,
  groupDiscount: 0.03,
  unsettledDiscount: 0.015,
  gift: 0.03,
  canceledRow: 0.05,
  canceledMenu: 0.015,
  transferredRow: 0.02,
  loss: 0.02,
  refundRow: 0.02,
  mergedOrder: 0.03,
  partPayments: 0.2,
  change: 0.1,
  tip: 0.1,
  account: 0.03,
  unsettledPayment: 0.02,
};

/** The mix of an ordinary day, with other weights where given. Throws a RangeError for a weight outside 0 to 1. */
export function completeMix(mix: Partial<TillMix> = {}): TillMix {
  for (const [name, weight] of Object.entries(mix)) {
    if (!(weight >= 0 && weight <= 1)) throw new RangeError(`Weight ${name} must be from 0 to 1, not ${weight}`);
  }
  return { ...ordinaryMix, ...mix };
}
