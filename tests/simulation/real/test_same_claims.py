"""Every claim made about our coordinator, put to real brokers: the same tests, with another bench under them."""

from __future__ import annotations

import pytest

from tests.simulation.test_broker_lines import *  # noqa: F403
from tests.simulation.test_coordinator_epochs import *  # noqa: F403
from tests.simulation.test_coordinator_expressions import *  # noqa: F403
from tests.simulation.test_coordinator_members import *  # noqa: F403
from tests.simulation.test_coordinator_offsets import *  # noqa: F403

pytestmark = pytest.mark.broker
