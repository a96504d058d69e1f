import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from "react-aria-components/Button";

type Variant = "primary" | "secondary" | "quiet" | "danger";

interface ButtonProps extends Omit<AriaButtonProps, "className" | "style"> {
  variant?: Variant;
}

export const Button = ({ variant = "secondary", ...props }: ButtonProps) => (
  <AriaButton {...props} className={`button button-${variant}`} />
);

/** A link to another view that looks like a button. */
export const ButtonLink = ({
  variant = "secondary",
  children,
  ...props
}: Pick<LinkProps, "to" | "params" | "search"> & { variant?: Variant; children: ReactNode }) => (
  <Link {...props} className={`button button-${variant}`}>
    {children}
  </Link>
);
