import { useLocation } from "@docusaurus/router";
import type { WrapperProps } from "@docusaurus/types";
import type FooterType from "@theme/Footer/index.tsx";
import Footer from "@theme-original/Footer";
import type { ReactNode } from "react";

/** Renders the footer of the site, except in the API reference, because its pages fill the height of the window. */
export default function FooterOutsideReference(props: WrapperProps<typeof FooterType>): ReactNode {
  const { pathname } = useLocation();
  return pathname === "/api" || pathname.startsWith("/api/") ? null : <Footer {...props} />;
}
