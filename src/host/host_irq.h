/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns interrupts and the IOMMU within the devices subject: where new interrupts go, what irqbalance is told to leave
 * alone, and whether and how devices are translated.
 */
#ifndef HVTUNE_HOST_IRQ_H
#define HVTUNE_HOST_IRQ_H

struct host;

void host_irq_read(struct host *host);

#endif
