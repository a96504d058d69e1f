import { text } from "../text/text.ts";

export const Brand = () => (
  <span className="brand">
    <img src="/favicon.svg" alt="" width="24" height="24" />
    {text.productName}
  </span>
);
