/** The enumerations of tills, orders and reports. Do not reorder values, because V1 tills contain their indexes. */

export const orderServiceTypes = ["takeout", "eatin", "delivery", "unknown"] as const;

export const diningRoomTypes = ["room", "bar", "takeOut", "extOrder"] as const;

/** The type of price list of a room, a product row or a menu row. */
export const priceListTypes = [
  "custom",
  "normal",
  "happyHour",
  "bar",
  "takeOut",
  "terrace",
  "special",
  "weightPrice",
  "event0",
  "event1",
  "event2",
  "event3",
  "event4",
  "event5",
  "event6",
] as const;

/** The status of a payment row or a discount row. Reports count only validated rows. */
export const paymentAndDiscountRowStatuses = ["validated", "pending", "cancelled"] as const;

export const paymentRowTypes = ["payment", "change", "discount", "customerAccount", "tip"] as const;

export const paymentModes = [
  "cash",
  "card",
  "restaurantCheck",
  "check",
  "amex",
  "credit",
  "custom",
  "iZettle",
  "debt",
  "foxOrder",
  "restoFlash",
  "mews",
  "barnaby",
  "uberEats",
  "deposit",
  "deliveroo",
  "bananaSplit",
  "qoodosCashback",
  "hubrise",
  "keytchens",
  "bankTransfer",
  "obypay",
  "tablePayment",
] as const;

export const paymentTerminalProtocols = ["manual", "nepting", "concertV3", "payxpert", "cashmatic", "unknown"] as const;

export const productCategoryColorNames = [
  "colorGreen",
  "colorBrown",
  "colorYellow",
  "colorBlue",
  "colorRed",
  "colorPurple",
  "menu",
  "selection",
  "search",
  "undefined",
] as const;

export const financialMovementTypes = ["deposit", "customerAccount", "cash-in", "cash-out"] as const;

/** Returns the codes of V1 tills for these values, as text for descriptions: "`0` cash, `1` card". */
export function describeCodesV1(values: readonly string[]): string {
  return values.map((value, code) => `\`${code}\` ${value}`).join(", ");
}
