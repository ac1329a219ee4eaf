/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the rules about tuned share: the profiles that are judged, and pointing at a line of one.
 */
#ifndef HVTUNE_ADVISE_TUNED_H
#define HVTUNE_ADVISE_TUNED_H

#include "advise_check.h"

/* The profiles that are judged: the linted one, or the active ones. Returns how many. */
int advise_profiles(const struct advise_check *c, const struct tuned_profile **ret);

/* Is a profile linted, or an active one in force as far as is known (tuned is not known to be stopped)? */
bool advise_profile_in_force(const struct advise_check *c);

/* The last setting of that plug-in and option in the judged profiles, noted as evidence; NULL when there is none. */
const struct tuned_setting *advise_setting(struct advise_check *c, const char *type, const char *option);

/* Note a setting as evidence; set the place of a finding to it. */
void advise_note_setting(struct advise_check *c, const struct tuned_setting *setting);
void advise_at_setting(struct advise_finding *finding, const struct tuned_setting *setting);

/* Is one of the judged profiles, or one that it includes, called so? */
bool advise_profile_is_a(const struct advise_check *c, const char *name);

/* Can one of the alternatives "a|b" be written as EPP (a word that the driver knows, or a number)? */
bool advise_epp_can_be_set(const struct advise_check *c, const char *alternatives);

/* "Profile virtual-host", or "This profile" when it is linted: the start of a sentence. */
const char *advise_profile_name(struct advise_check *c);

#endif
