import type { ApiSchemaTypes } from "@pragma/client";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Section } from "../ui/section.tsx";

export type Order = ApiSchemaTypes["OrderData"];
type ProductRow = Order["productRowList"][number];

/** The products and set menus of an order, with their options, discounts and what happened to them. */
export function OrderRows({ order: { productRowList, menuRowList } }: { order: Order }) {
  const { money } = useFormats();
  return (
    <Section title={text.orders.products}>
      {productRowList.length + menuRowList.length === 0 && <p className="empty">{text.orders.noProducts}</p>}
      <ul className="order-rows">
        {menuRowList.map((menu) => (
          <li key={menu.id}>
            <div className="order-row">
              <strong>{menu.name ?? text.orders.menu}</strong>
              <span className="numeric">{money(menu.totalRow)}</span>
            </div>
            <ul className="order-rows order-rows-nested">
              {menu.productRowList.map((row) => (
                <ProductRowView key={row.id} row={row} />
              ))}
            </ul>
          </li>
        ))}
        {productRowList.map((row) => (
          <ProductRowView key={row.id} row={row} />
        ))}
      </ul>
    </Section>
  );
}

function ProductRowView({ row }: { row: ProductRow }) {
  const { money, number } = useFormats();
  const notes = [
    row.isCanceled && text.orders.rowCanceled(row.canceledReason),
    row.isLoss && text.orders.rowLost(row.lossReason),
    row.isTransferred && text.orders.rowTransferred(row.transferredTo),
    row.comment,
  ].filter(Boolean);
  const isExcluded = row.isCanceled || row.isTransferred || row.isLoss;
  return (
    <li className={isExcluded ? "is-excluded" : undefined}>
      <div className="order-row">
        <span>
          {number(row.quantity)} × {row.name ?? text.orders.unnamedProduct}
          {row.weight !== null && <span className="muted"> {number(row.weight)} kg</span>}
        </span>
        <span className="numeric">{money(row.totalRow)}</span>
      </div>
      {row.modifierRowList.map(({ id, name, amount }) => (
        <p key={id} className="order-row-detail">
          {name}
          {amount !== 0 && <> {money(amount)}</>}
        </p>
      ))}
      {row.discountRowList.map(({ id, name, amount }) => (
        <p key={id} className="order-row-detail">
          {name ?? text.ticket.discount} {money(-amount)}
        </p>
      ))}
      {notes.map((note) => (
        <p key={String(note)} className="order-row-detail">
          {note}
        </p>
      ))}
    </li>
  );
}
