"""Everything that teenyc says about a source: what a report is, all the reports there are, and how they are shown."""
