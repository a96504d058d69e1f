import type { ReactNode } from "react";
import { Dialog as AriaDialog } from "react-aria-components/Dialog";
import { Heading } from "react-aria-components/Heading";
import { Modal, ModalOverlay } from "react-aria-components/Modal";

interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** Whether only a button of the dialog closes it, because it shows something that cannot be shown again. */
  isKept?: boolean;
  children: ReactNode;
}

/** A dialog over the view. Escape and a click outside close it, and the focus returns to where it was. */
export const Dialog = ({ title, isOpen, onClose, isKept = false, children }: DialogProps) => (
  <ModalOverlay
    className="overlay"
    isOpen={isOpen}
    onOpenChange={(open) => !open && onClose()}
    isDismissable={!isKept}
    isKeyboardDismissDisabled={isKept}
  >
    <Modal className="modal">
      <AriaDialog className="dialog">
        <Heading slot="title" level={2}>
          {title}
        </Heading>
        {children}
      </AriaDialog>
    </Modal>
  </ModalOverlay>
);
