import { useLocation } from "@docusaurus/router";
import type { WrapperProps } from "@docusaurus/types";
import type FooterType from "@theme/Footer";
import Footer from "@theme-original/Footer";
import type { ReactNode } from "react";

const referencePath = /^\/(api|operators)(\/|$)/;

/** Renders the footer of the site, except in the API references, because their pages fill the height of the window. */
export default function FooterOutsideReference(props: WrapperProps<typeof FooterType>): ReactNode {
  const { pathname } = useLocation();
  return referencePath.test(pathname) ? null : <Footer {...props} />;
}
