# SPDX-License-Identifier: BSD-2-Clause
"""One file for each partner library, which is imported when it is asked for."""
