"""From records of past cases to estimates: tables read and checked, tests of the assumptions."""
