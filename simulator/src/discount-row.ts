import type { DiscountRow } from "@pragma/contracts/discount-row";
import { roundHalfAway } from "@pragma/contracts/money";
import type { ProductRow } from "@pragma/contracts/product-row";
import { priced } from "./product-row.ts";
import type { Random } from "./random.ts";
import type { Discount } from "./restaurant.ts";

interface Given {
  /** Shared by the rows of one discount over several products. */
  groupId?: string;
  /** Validated unless given; others take nothing off. */
  status?: DiscountRow["status"];
}

/** The row with one more discount, and the amounts that follow. */
export function discounted(
  random: Random,
  row: ProductRow,
  { id, name, percent }: Discount,
  { groupId, status = "validated" }: Given = {},
): ProductRow {
  const discountRow: DiscountRow = {
    id: random.uuid(),
    recordedAt: row.recordedAt,
    modifiedAt: row.modifiedAt,
    amount: roundHalfAway(row.totalRowWithModifier * percent, 100),
    status,
    splitAllowed: true,
    name,
    discountId: id,
    discountGroupId: groupId ?? null,
    extQoodosCheckInId: null,
  };
  return priced({ ...row, discountRowList: [...row.discountRowList, discountRow] });
}
